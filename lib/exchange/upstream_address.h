#ifndef SLUICE_LIB_EXCHANGE_UPSTREAM_ADDRESS_H_
#define SLUICE_LIB_EXCHANGE_UPSTREAM_ADDRESS_H_

#include <string>

#include "lib/exchange/endpoint_uri.h"

namespace sluice {

/// How TLS is spoken to an upstream. Files are PEM.
struct TlsOptions {
  std::string ca_file = "";           // who is trusted; "": whom the system trusts
  std::string certificate_file = "";  // the gateway's own, if it shows one
  std::string private_key_file = "";
  std::string server_name = "";  // to ask for and to verify; "": the host of the address
  bool insecure = false;         // any certificate will do
  friend bool operator==(const TlsOptions&, const TlsOptions&) = default;
};

/// Where an attempt goes and how: one per endpoint, shared by the attempts at it.
struct UpstreamAddress {
  EndpointUri uri;
  std::string ip = "";  // is connected to instead of what `uri.host` would be found at
  TlsOptions tls = {};  // when `uri` is https
  friend bool operator==(const UpstreamAddress&, const UpstreamAddress&) = default;
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_UPSTREAM_ADDRESS_H_
