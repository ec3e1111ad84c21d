#include "server/event_convert.h"

#include <memory>
#include <string>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "lib/base/display_text.h"
#include "server/endpoint_convert.h"
#include "server/exchange_convert.h"
#include "server/proto_time.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using server::FromProto;  // overloads of the enclosing namespace, which those below would hide
using server::ToProto;

constexpr size_t kMaxNameBytes = 256;   // models, principals, finish reasons
constexpr size_t kMaxTextBytes = 1024;  // paths, details

/// Fills the member of Event.kind that belongs to what happened.
class KindWriter {
 public:
  KindWriter(const Subject* subject, pb::Event* proto) : subject_(subject), proto_(proto) {}

  void operator()(const events::ExchangeStarted&) {
    pb::ExchangeStarted* started = proto_->mutable_exchange_started();
    if (subject_ == nullptr) return;
    const ExchangeInfo& info = *subject_->exchange;
    started->set_client_address(info.client_address);
    started->set_method(DisplayText(info.method, kMaxNameBytes));
    started->set_path(DisplayText(info.path, kMaxTextBytes));
    started->set_stream(info.stream);
    started->set_dialect(info.dialect);
    started->set_principal(DisplayText(info.principal, kMaxNameBytes));
    started->set_config_generation(static_cast<int64_t>(info.config_generation));
  }

  void operator()(const events::AttemptStarted&) {
    pb::AttemptStarted* started = proto_->mutable_attempt_started();
    if (subject_ != nullptr) started->set_key_id(subject_->key_id);
  }

  void operator()(const std::shared_ptr<const events::AttemptFailed>& what) {
    pb::AttemptFailed* failed = proto_->mutable_attempt_failed();
    failed->set_cause(ToProto(what->cause));
    failed->set_http_status(what->http_status);
    failed->set_detail(DisplayText(what->detail, kMaxTextBytes));
  }

  void operator()(const events::FirstByte& what) {
    proto_->mutable_first_byte()->set_http_status(what.http_status);
  }

  void operator()(const events::FirstFrame& what) {
    proto_->mutable_first_frame()->set_index(static_cast<int64_t>(what.index));
  }

  void operator()(const events::Chunk& what) {
    pb::Chunk* chunk = proto_->mutable_chunk();
    chunk->set_index(static_cast<int64_t>(what.index));
    chunk->set_size_bytes(static_cast<int64_t>(what.size_bytes));
    *chunk->mutable_gap() = ToProto(what.gap);
  }

  void operator()(const std::shared_ptr<const events::UsageReported>& what) {
    *proto_->mutable_usage() = ToProto(what->usage);
  }

  void operator()(const std::shared_ptr<const Exchange>& what) {
    ToProto(*what, proto_->mutable_exchange_finished());
  }

  void operator()(const std::shared_ptr<const events::ConfigChanged>& what) {
    pb::ConfigChanged* changed = proto_->mutable_config_changed();
    changed->set_generation(static_cast<int64_t>(what->generation));
    changed->set_etag(what->etag);
  }

  void operator()(const std::shared_ptr<const EndpointStateChanged>& what) {
    proto_->set_pool(what->pool);
    proto_->set_endpoint(what->endpoint);
    pb::EndpointStateChanged* changed = proto_->mutable_endpoint_state_changed();
    changed->set_state(ToProto(what->state));
    changed->set_detail(DisplayText(what->detail, kMaxTextBytes));
    if (what->state == EndpointStateChanged::State::kEjected &&
        what->until != absl::InfiniteFuture()) {
      *changed->mutable_until() = ToProto(what->until);
    }
  }

  void operator()(const std::shared_ptr<const KeyStateChanged>& what) {
    proto_->set_pool(what->pool);
    pb::KeyStateChanged* changed = proto_->mutable_key_state_changed();
    changed->set_key_id(what->key_id);
    changed->set_state(ToProto(what->state));
    if (what->state == KeyStateChanged::State::kResting) {
      *changed->mutable_until() = ToProto(what->until);
    }
  }

 private:
  const Subject* subject_;
  pb::Event* proto_;
};

/// EventKind follows events::Kind, one higher: 0 is UNSPECIFIED. A test walks both.
std::optional<events::Kind> FromProto(pb::EventKind kind) {
  if (kind < 1 || kind > events::kKinds) return std::nullopt;
  return static_cast<events::Kind>(kind - 1);
}

}  // namespace

pb::Cause ToProto(Cause cause) {
  pb::Cause proto = pb::CAUSE_UNSPECIFIED;
  pb::Cause_Parse(absl::StrCat("CAUSE_", absl::AsciiStrToUpper(InfoOf(cause).label)), &proto);
  return proto;
}

std::optional<Cause> FromProto(pb::Cause cause) {
  std::string name = pb::Cause_Name(cause);  // "" when unknown
  absl::AsciiStrToLower(&name);
  absl::string_view label = name;
  return absl::ConsumePrefix(&label, "cause_") ? ParseCause(label) : std::nullopt;
}

void ToProto(const events::Event& event, pb::Event* proto) {
  proto->set_sequence(static_cast<int64_t>(event.sequence));
  *proto->mutable_time() = ToProto(event.time);
  if (const Subject* subject = event.subject.get()) {
    proto->set_exchange(ToString(subject->exchange->id));
    proto->set_request_id(DisplayText(subject->exchange->request_id, kMaxNameBytes));
    proto->set_model(DisplayText(subject->exchange->model, kMaxNameBytes));
    proto->set_pool(subject->exchange->pool);
    proto->set_endpoint(subject->endpoint);
    proto->set_attempt(subject->attempt);
    *proto->mutable_since_start() = ToProto(event.since_start);
  }
  std::visit(KindWriter(event.subject.get(), proto), event.what);
}

absl::StatusOr<events::Filter> FromProto(const pb::EventFilter& proto) {
  events::Filter filter;
  for (const int value : proto.kinds()) {
    const std::optional<events::Kind> kind = FromProto(static_cast<pb::EventKind>(value));
    if (!kind)
      return absl::InvalidArgumentError(absl::StrCat("no kind of event has number ", value));
    filter.kinds.push_back(*kind);
  }
  filter.principals.assign(proto.principals().begin(), proto.principals().end());
  filter.models.assign(proto.models().begin(), proto.models().end());
  filter.pools.assign(proto.pools().begin(), proto.pools().end());
  filter.endpoints.assign(proto.endpoints().begin(), proto.endpoints().end());
  for (const std::string& text : proto.exchanges()) {
    const std::optional<ExchangeId> id = ParseExchangeId(text);
    if (!id) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" is not the id of an exchange, as in x5f3a09c100000001"));
    }
    filter.exchanges.push_back(*id);
  }
  for (const int value : proto.causes()) {
    const std::optional<Cause> cause = FromProto(static_cast<pb::Cause>(value));
    if (!cause) return absl::InvalidArgumentError(absl::StrCat("no cause has number ", value));
    filter.causes.push_back(*cause);
  }
  return filter;
}

}  // namespace sluice::server
