#include "lib/exchange/observer.h"

namespace sluice {

void Observers::OnStarted(const Exchange& x) {
  for (Observer* observer : observers_) observer->OnStarted(x);
}
void Observers::OnAttempt(const Exchange& x, const Attempt& a) {
  for (Observer* observer : observers_) observer->OnAttempt(x, a);
}
void Observers::OnAttemptFailed(const Exchange& x, const Attempt& a) {
  for (Observer* observer : observers_) observer->OnAttemptFailed(x, a);
}
void Observers::OnFirstByte(const Exchange& x) {
  for (Observer* observer : observers_) observer->OnFirstByte(x);
}
void Observers::OnFrame(const Exchange& x, const FrameInfo& f) {
  for (Observer* observer : observers_) observer->OnFrame(x, f);
}
void Observers::OnUsage(const Exchange& x, const Usage& u) {
  for (Observer* observer : observers_) observer->OnUsage(x, u);
}
void Observers::OnDone(const Exchange& x) {
  for (Observer* observer : observers_) observer->OnDone(x);
}
void Observers::OnFinished(const Exchange& x) {
  for (Observer* observer : observers_) observer->OnFinished(x);
}

}  // namespace sluice
