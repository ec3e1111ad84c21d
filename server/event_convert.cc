#include "server/event_convert.h"

#include <memory>
#include <string>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "server/display_text.h"
#include "server/proto_time.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using server::FromProto;  // overloads of the enclosing namespace, which those below would hide
using server::ToProto;

constexpr size_t kMaxNameBytes = 256;   // models, principals, finish reasons
constexpr size_t kMaxTextBytes = 1024;  // paths, details

pb::Usage ToProto(const Usage& usage) {
  pb::Usage proto;
  proto.set_prompt_tokens(usage.prompt_tokens);
  proto.set_completion_tokens(usage.completion_tokens);
  proto.set_total_tokens(usage.total_tokens);
  if (usage.cached_tokens) proto.set_cached_tokens(*usage.cached_tokens);
  if (usage.reasoning_tokens) proto.set_reasoning_tokens(*usage.reasoning_tokens);
  return proto;
}

pb::UsageProvenance ToProto(Provenance provenance) {
  switch (provenance) {
    case Provenance::kAbsent:
      return pb::USAGE_PROVENANCE_ABSENT;
    case Provenance::kPartial:
      return pb::USAGE_PROVENANCE_PARTIAL;
    case Provenance::kReported:
      return pb::USAGE_PROVENANCE_REPORTED;
  }
  return pb::USAGE_PROVENANCE_UNSPECIFIED;
}

std::string DigestText(const std::optional<uint64_t>& digest) {
  return digest ? absl::StrCat(absl::Hex(*digest, absl::kZeroPad16)) : "";
}

pb::Timings ToProto(const Stamps& stamps) {
  pb::Timings proto;
  const auto fill = [&](const std::optional<Instant>& stamp, auto mutable_field) {
    if (stamp) *(proto.*mutable_field)() = ToProto(*stamp - stamps.accepted);
  };
  fill(stamps.upstream_connected, &pb::Timings::mutable_upstream_connected);
  fill(stamps.upstream_head, &pb::Timings::mutable_upstream_head);
  fill(stamps.upstream_first_byte, &pb::Timings::mutable_upstream_first_byte);
  fill(stamps.first_byte, &pb::Timings::mutable_first_byte);
  fill(stamps.first_frame, &pb::Timings::mutable_first_frame);
  fill(stamps.first_content, &pb::Timings::mutable_first_content);
  fill(stamps.done, &pb::Timings::mutable_done);
  return proto;
}

/// Fills the member of Event.kind that belongs to what happened.
class KindWriter {
 public:
  KindWriter(const events::Subject* subject, pb::Event* proto) : subject_(subject), proto_(proto) {}

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

  void operator()(const std::shared_ptr<const events::ExchangeFinished>& what) {
    pb::ExchangeFinished* finished = proto_->mutable_exchange_finished();
    finished->set_cause(ToProto(what->cause));
    finished->set_detail(DisplayText(what->detail, kMaxTextBytes));
    finished->set_http_status(what->http_status);
    finished->set_attempts(what->attempts);
    *finished->mutable_timings() = ToProto(what->stamps);
    finished->set_upstream_bytes(static_cast<int64_t>(what->bytes_from_upstream));
    finished->set_client_bytes(static_cast<int64_t>(what->bytes_to_client));
    finished->set_frames(static_cast<int64_t>(what->frames));
    if (what->usage) *finished->mutable_usage() = ToProto(*what->usage);
    finished->set_usage_provenance(ToProto(what->provenance));
    finished->set_finish_reason(DisplayText(what->finish_reason, kMaxNameBytes));
    *finished->mutable_largest_gap() = ToProto(what->largest_gap);
    finished->set_largest_gap_by_client(what->largest_gap_by_client);
    finished->set_upstream_digest(DigestText(what->digest_from_upstream));
    finished->set_client_digest(DigestText(what->digest_to_client));
    finished->set_valid_frames_only(what->valid_frames_only);
    finished->set_dropped_bytes(static_cast<int64_t>(what->dropped_bytes));
    finished->set_dropped_stretches(static_cast<int64_t>(what->dropped_stretches));
    if (what->cancel_latency) {
      *finished->mutable_cancel_latency() = ToProto(*what->cancel_latency);
    }
    finished->set_key_id(what->key_id);
  }

  void operator()(const std::shared_ptr<const events::ConfigChanged>& what) {
    pb::ConfigChanged* changed = proto_->mutable_config_changed();
    changed->set_generation(static_cast<int64_t>(what->generation));
    changed->set_etag(what->etag);
  }

 private:
  const events::Subject* subject_;
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
  if (const events::Subject* subject = event.subject.get()) {
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
