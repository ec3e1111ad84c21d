#include "admin/top_feed.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "admin/escape.h"
#include "admin/wording.h"
#include "lib/base/status.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

}  // namespace

absl::StatusOr<TopSample> TakeSample(ControlClient& client, const Clock& clock,
                                     const v1::ListExchangesRequest& selection) {
  TopSample sample;
  SLUICE_ASSIGN_OR_RETURN(sample.status, client.GetServerStatus());
  SLUICE_ASSIGN_OR_RETURN(sample.endpoints, client.ListEndpoints({}));
  SLUICE_ASSIGN_OR_RETURN(sample.exchanges, client.ListExchanges(selection));
  sample.at = clock.Now();
  return sample;
}

TopFeed::TopFeed(ControlClient& client, const Clock& clock, v1::ListExchangesRequest selection,
                 absl::Duration interval)
    : client_(client),
      clock_(clock),
      selection_(std::move(selection)),
      interval_(interval),
      thread_([this] { Run(); }) {}

TopFeed::~TopFeed() {
  {
    MutexLock lock(&mutex_);
    ended_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

std::deque<TopFeed::News> TopFeed::Take() {
  MutexLock lock(&mutex_);
  return std::exchange(news_, {});
}

void TopFeed::Cancel(v1::CancelExchangeRequest request) {
  {
    MutexLock lock(&mutex_);
    cancels_.push_back(std::move(request));
  }
  changed_.NotifyAll();
}

void TopFeed::Run() {
  while (true) {
    std::deque<v1::CancelExchangeRequest> cancels;
    {
      MutexLock lock(&mutex_);
      changed_.WaitFor(
          &mutex_, absl::ToChronoMilliseconds(interval_),
          [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ended_ || !cancels_.empty(); });
      if (ended_) return;
      cancels.swap(cancels_);
    }
    std::deque<News> news;
    for (const v1::CancelExchangeRequest& request : cancels) news.push_back(Cancelled(request));
    absl::StatusOr<TopSample> sample = TakeSample(client_, clock_, selection_);
    if (sample.ok()) {
      news.push_back(*std::move(sample));
    } else {
      news.push_back(sample.status());
    }
    MutexLock lock(&mutex_);
    for (News& one : news) news_.push_back(std::move(one));
  }
}

std::string TopFeed::Cancelled(const v1::CancelExchangeRequest& request) {
  const absl::Status status = client_.CancelExchange(request).status();
  if (status.ok()) return absl::StrCat("cancelled ", ShortIdText(request.id()));
  return absl::StrCat("not cancelled: ", EscapeText(status.message()));
}

}  // namespace sluice::admin
