#include "lint/progress.h"

#include <ostream>
#include <utility>

#include "lint/memory/format.h"

namespace kvbudget {

namespace {

constexpr auto kQuietTime = std::chrono::milliseconds(500);
constexpr auto kInterval = std::chrono::milliseconds(100);

}  // namespace

Progress::Progress(std::ostream& out, std::function<Time()> now)
    : out_(out), now_(std::move(now)), next_(now_() + kQuietTime) {}

void Progress::show(size_t done, size_t total) {
  const std::lock_guard lock(mutex_);
  if (done == total) {
    if (visible_) out_ << "\r\033[K" << std::flush;
    visible_ = false;
    shown_ = 0;  // the next round of fixes reads everything again
    return;
  }
  const Time now = now_();
  if (now < next_ || done <= shown_) return;
  next_ = now + kInterval;
  shown_ = done;
  visible_ = true;
  out_ << "\r\033[Kkvbudget: " << memory::with_commas(done) << " of " << memory::with_commas(total)
       << " files" << std::flush;
}

}  // namespace kvbudget
