#ifndef SLUICE_TESTS_SUPPORT_TEST_AUTHORITY_H_
#define SLUICE_TESTS_SUPPORT_TEST_AUTHORITY_H_

#include <memory>
#include <openssl/x509.h>
#include <string>

namespace sluice::testing {

/// A certificate authority made for one test. All texts are PEM.
class TestAuthority {
 public:
  struct Issued {
    std::string certificate;
    std::string key;
  };

  explicit TestAuthority(const std::string& name = "authority");

  const std::string& certificate() const { return pem_; }
  /// `alternative_names` as OpenSSL's configuration has them: "IP:127.0.0.1,URI:spiffe://x/alice".
  Issued Issue(const std::string& common_name, const std::string& alternative_names = "") const;
  /// One whose time is over.
  Issued IssueExpired(const std::string& common_name, const std::string& alternative_names) const;
  /// For a server on this host.
  Issued IssueForServer() const { return Issue("server", "IP:127.0.0.1,DNS:localhost"); }

 private:
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

  static Certificate Unsigned(const std::string& common_name, EVP_PKEY* key);
  Issued Sign(X509* certificate, EVP_PKEY* key, const std::string& alternative_names) const;

  const Key key_;
  const Certificate certificate_;
  std::string pem_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_TEST_AUTHORITY_H_
