#include "server/exchange_convert.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "lib/base/display_text.h"
#include "server/event_convert.h"
#include "server/proto_time.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using server::ToProto;  // overloads of the enclosing namespace, which those below would hide

constexpr size_t kMaxNameBytes = 256;   // models, principals, finish reasons
constexpr size_t kMaxTextBytes = 1024;  // paths, details

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
  fill(stamps.upstream.connected, &pb::Timings::mutable_upstream_connected);
  fill(stamps.upstream.head, &pb::Timings::mutable_upstream_head);
  fill(stamps.upstream.first_byte, &pb::Timings::mutable_upstream_first_byte);
  fill(stamps.first_byte, &pb::Timings::mutable_first_byte);
  fill(stamps.first_frame, &pb::Timings::mutable_first_frame);
  fill(stamps.first_content, &pb::Timings::mutable_first_content);
  fill(stamps.done, &pb::Timings::mutable_done);
  return proto;
}

pb::Phase ToProto(Phase phase) {
  switch (phase) {
    case Phase::kQueue:
      return pb::PHASE_QUEUE;
    case Phase::kAttempt:
      return pb::PHASE_ATTEMPT;
    case Phase::kHold:
      return pb::PHASE_HOLD;
    case Phase::kRelay:
      return pb::PHASE_RELAY;
    case Phase::kFinished:
      return pb::PHASE_FINISHED;
  }
  return pb::PHASE_UNSPECIFIED;
}

void ToProto(const Attempt& attempt, Instant accepted, pb::Attempt* proto) {
  proto->set_number(attempt.index + 1);
  proto->set_endpoint(attempt.endpoint);
  proto->set_key_id(attempt.key_id);
  *proto->mutable_started() = ToProto(attempt.started - accepted);
  if (attempt.ended) *proto->mutable_took() = ToProto(*attempt.ended - attempt.started);
  if (attempt.failure) proto->set_cause(ToProto(*attempt.failure));
  proto->set_http_status(attempt.http_status);
  proto->set_detail(DisplayText(attempt.detail, kMaxTextBytes));
}

void ToProto(const GapHistogram& gaps, pb::GapHistogram* proto) {
  for (size_t i = 0; i < GapHistogram::kBuckets; ++i) {
    if (gaps.count(i) == 0) continue;
    pb::GapHistogram::Bucket* bucket = proto->add_buckets();
    if (i < GapHistogram::kBounds.size()) {
      *bucket->mutable_up_to() = ToProto(GapHistogram::kBounds[i]);
    }
    bucket->set_count(gaps.count(i));
  }
}

}  // namespace

pb::Usage ToProto(const Usage& usage) {
  pb::Usage proto;
  proto.set_prompt_tokens(usage.prompt_tokens);
  proto.set_completion_tokens(usage.completion_tokens);
  proto.set_total_tokens(usage.total_tokens);
  if (usage.cached_tokens) proto.set_cached_tokens(*usage.cached_tokens);
  if (usage.reasoning_tokens) proto.set_reasoning_tokens(*usage.reasoning_tokens);
  return proto;
}

void ToProto(const Exchange& record, pb::ExchangeFinished* finished) {
  finished->set_cause(ToProto(record.cause.value_or(Cause::kInternal)));
  finished->set_detail(DisplayText(record.detail, kMaxTextBytes));
  finished->set_http_status(record.http_status);
  finished->set_attempts(static_cast<int32_t>(record.attempts.size()));
  *finished->mutable_timings() = ToProto(record.stamps);
  finished->set_upstream_bytes(static_cast<int64_t>(record.bytes_from_upstream));
  finished->set_client_bytes(static_cast<int64_t>(record.bytes_to_client));
  finished->set_frames(static_cast<int64_t>(record.frames));
  if (record.usage) *finished->mutable_usage() = ToProto(*record.usage);
  finished->set_usage_provenance(ToProto(record.provenance));
  finished->set_finish_reason(DisplayText(record.finish_reason, kMaxNameBytes));
  *finished->mutable_largest_gap() = ToProto(record.largest_gap);
  finished->set_largest_gap_by_client(record.largest_gap_by_client);
  finished->set_upstream_digest(DigestText(record.digest_from_upstream));
  finished->set_client_digest(DigestText(record.digest_to_client));
  finished->set_valid_frames_only(record.valid_frames_only);
  finished->set_dropped_bytes(static_cast<int64_t>(record.dropped_bytes));
  finished->set_dropped_stretches(static_cast<int64_t>(record.dropped_stretches));
  if (record.cancel_latency) {
    *finished->mutable_cancel_latency() = ToProto(*record.cancel_latency);
  }
  if (!record.attempts.empty()) finished->set_key_id(record.attempts.back().key_id);
}

void ToProto(const ExchangeView& view, Instant now, pb::Exchange* proto) {
  const ExchangeInfo& info = view.info();
  const Exchange& record = *view.record;
  const Instant accepted = record.stamps.accepted;
  proto->set_id(ToString(info.id));
  proto->set_request_id(DisplayText(info.request_id, kMaxNameBytes));
  proto->set_principal(DisplayText(info.principal, kMaxNameBytes));
  proto->set_client_address(info.client_address);
  proto->set_method(DisplayText(info.method, kMaxNameBytes));
  proto->set_path(DisplayText(info.path, kMaxTextBytes));
  proto->set_model(DisplayText(info.model, kMaxNameBytes));
  proto->set_pool(info.pool);
  proto->set_dialect(info.dialect);
  proto->set_stream(info.stream);
  proto->set_config_generation(static_cast<int64_t>(info.config_generation));
  *proto->mutable_start_time() = ToProto(info.started);
  proto->set_phase(ToProto(view.finished ? Phase::kFinished : Phase(record.phase)));
  proto->set_endpoint(view.subject->endpoint);
  proto->set_attempt(view.subject->attempt);
  proto->set_key_id(view.subject->key_id);
  const Instant end = view.finished ? record.stamps.done.value_or(now) : now;
  *proto->mutable_age() = ToProto(end - accepted);
  if (view.first_frame) *proto->mutable_ttft() = ToProto(*view.first_frame - accepted);
  proto->set_frames(static_cast<int64_t>(record.frames));
  proto->set_upstream_bytes(static_cast<int64_t>(record.bytes_from_upstream));
  proto->set_client_bytes(static_cast<int64_t>(record.bytes_to_client));
  if (view.usage) *proto->mutable_usage() = ToProto(*view.usage);
  const Instant last_piece_at = record.last_piece_at;
  if (!view.finished && last_piece_at != Instant()) {
    *proto->mutable_since_last_piece() = ToProto(now - last_piece_at);
  }
  if (view.finished) ToProto(record, proto->mutable_finished());
}

void ToProtoInFull(const ExchangeView& view, Instant now, pb::Exchange* proto) {
  ToProto(view, now, proto);
  for (const Attempt& attempt : view.attempts) {
    ToProto(attempt, view.record->stamps.accepted, proto->add_attempts());
  }
  ToProto(view.record->gaps, proto->mutable_gaps());
}

}  // namespace sluice::server
