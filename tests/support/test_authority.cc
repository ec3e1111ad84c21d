#include "tests/support/test_authority.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace sluice::testing {
namespace {

constexpr long kHour = 3600;

using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

Memory NewMemory() { return Memory(BIO_new(BIO_s_mem()), &BIO_free); }

std::string TextOf(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string ToPem(X509* certificate) {
  const Memory memory = NewMemory();
  PEM_write_bio_X509(memory.get(), certificate);
  return TextOf(memory.get());
}

std::string ToPem(EVP_PKEY* key) {
  const Memory memory = NewMemory();
  PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(memory.get());
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name)
    : key_(EVP_EC_gen("P-256"), &EVP_PKEY_free), certificate_(Unsigned(name, key_.get())) {
  X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
  AddExtension(certificate_.get(), certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate_.get(), key_.get(), EVP_sha256());
  pem_ = ToPem(certificate_.get());
}

TestAuthority::Issued TestAuthority::Issue(const std::string& common_name,
                                           const std::string& alternative_names) const {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Certificate certificate = Unsigned(common_name, key.get());
  return Sign(certificate.get(), key.get(), alternative_names);
}

TestAuthority::Issued TestAuthority::IssueExpired(const std::string& common_name,
                                                  const std::string& alternative_names) const {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Certificate certificate = Unsigned(common_name, key.get());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -2 * kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), -kHour);
  return Sign(certificate.get(), key.get(), alternative_names);
}

TestAuthority::Issued TestAuthority::Sign(X509* certificate, EVP_PKEY* key,
                                          const std::string& alternative_names) const {
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_.get()));
  if (!alternative_names.empty()) {
    AddExtension(certificate, certificate_.get(), NID_subject_alt_name, alternative_names);
  }
  X509_sign(certificate, key_.get(), EVP_sha256());
  return {ToPem(certificate), ToPem(key)};
}

TestAuthority::Certificate TestAuthority::Unsigned(const std::string& common_name, EVP_PKEY* key) {
  Certificate certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kHour);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.data()),
                             static_cast<int>(common_name.size()), -1, 0);
  return certificate;
}

}  // namespace sluice::testing
