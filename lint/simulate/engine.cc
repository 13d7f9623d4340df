#include "lint/simulate/engine.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "lint/simulate/admission.h"
#include "lint/simulate/block_pool.h"

namespace kvbudget::simulate {
namespace {

struct Request {
  const TraceRequest* trace = nullptr;
  double arrival = 0.0;
  uint64_t output = 0;  ///< tokens that it will generate
  uint64_t generated = 0;
  uint64_t computed = 0;  ///< tokens whose keys and values are in the cache
  uint64_t private_blocks = 0;
  uint64_t shared_pieces = 0;  ///< leading pieces of the prompt that it uses from the cache
  bool seen = false;           ///< scheduled before

  uint64_t known() const { return trace->prompt_tokens + generated; }
};

class Simulation {
 public:
  Simulation(const Trace& trace, const Engine& engine, Policy policy, const MaxTokens& max_tokens,
             double speedup)
      : engine_(engine),
        max_tokens_(max_tokens),
        piece_tokens_(trace.prefix_tokens),
        pool_(engine.usable_blocks, trace.prefix_tokens / engine.block_tokens),
        watermark_(
            static_cast<uint64_t>(engine.watermark * static_cast<double>(engine.usable_blocks))),
        admission_(policy, engine, engine.usable_blocks - watermark_, trace.requests.size()) {
    requests_.reserve(trace.requests.size());
    for (const TraceRequest& from : trace.requests) {
      Request request;
      request.trace = &from;
      request.arrival = from.arrival_seconds / speedup;
      const uint64_t room =
          engine.max_model_len > from.prompt_tokens ? engine.max_model_len - from.prompt_tokens : 0;
      request.output = std::min<uint64_t>(from.output_tokens, room);
      requests_.push_back(request);
    }
  }

  Outcome run() {
    while (arrived_ < requests_.size() || !running_.empty() || !waiting_.empty() ||
           admission_.pending() > 0) {
      const bool idle = running_.empty() && waiting_.empty() && admission_.pending() == 0;
      if (idle) now_ = std::max(now_, requests_[arrived_].arrival);
      arrive();
      for (const uint32_t id : admission_.promoted(pool_.free_blocks(), pool_.used_blocks())) {
        waiting_.push_back(id);
      }
      if (!step()) break;
    }
    return summary();
  }

 private:
  void arrive() {
    for (; arrived_ < requests_.size() && requests_[arrived_].arrival <= now_; ++arrived_) {
      const auto id = static_cast<uint32_t>(arrived_);
      const Request& request = requests_[id];
      // The front end refuses what max_model_len cannot hold, whoever admits.
      if (request.output == 0 || blocks_for(request.known() + request.output - 1) > usable()) {
        ++outcome_.rejected;
        continue;
      }
      switch (admission_.admit(id, *request.trace, max_tokens_.of(*request.trace), now_)) {
        case ledger::Answer::kAdmit:
          waiting_.push_back(id);
          break;
        case ledger::Answer::kHold:
          break;
        case ledger::Answer::kNever:
          ++outcome_.rejected;
          break;
      }
    }
  }

  uint64_t usable() const { return engine_.usable_blocks; }
  uint64_t blocks_for(uint64_t tokens) const {
    return (tokens + engine_.block_tokens - 1) / engine_.block_tokens;
  }
  uint64_t held(const Request& r) const {
    return r.private_blocks + r.shared_pieces * pool_.piece_blocks();
  }

  /// One step of the engine; false when nothing could be scheduled, ever.
  bool step() {
    scheduled_.clear();
    budget_ = engine_.max_num_batched_tokens;
    const bool preempted = schedule_running();
    if (!preempted) schedule_waiting();
    if (scheduled_.empty()) return wait_for_arrival();
    outcome_.peak_blocks = std::max(outcome_.peak_blocks, pool_.used_blocks());
    running_sum_ += static_cast<double>(running_.size());
    ++steps_;
    now_ += seconds_of_step();
    finish_step();
    return true;
  }

  bool wait_for_arrival() {
    if (arrived_ == requests_.size()) return false;
    now_ = std::max(now_, requests_[arrived_].arrival);
    return true;
  }

  bool schedule_running() {
    bool preempted = false;
    for (size_t i = 0; i < running_.size() && budget_ > 0;) {
      const uint32_t id = running_[i];
      Request& r = requests_[id];
      const uint64_t tokens = std::min<uint64_t>(r.known() - r.computed, budget_);
      const uint64_t wanted = blocks_for(r.computed + tokens);
      const uint64_t more = wanted > held(r) ? wanted - held(r) : 0;
      bool fits = more <= pool_.free_blocks();
      while (!fits) {
        const uint32_t last = running_.back();
        running_.pop_back();
        preempt(last);
        preempted = true;
        if (last == id) break;
        fits = more <= pool_.free_blocks();
      }
      if (!fits) break;
      admission_.grow(id, wanted);
      schedule(id, tokens, more);
      ++i;
    }
    return preempted;
  }

  void preempt(uint32_t id) {
    Request& r = requests_[id];
    const auto entry = std::find_if(scheduled_.begin(), scheduled_.end(),
                                    [&](const Scheduled& s) { return s.id == id; });
    if (entry != scheduled_.end()) {
      budget_ += entry->tokens;
      r.computed -= entry->tokens;
      scheduled_.erase(entry);
    }
    free(r);
    r.computed = 0;
    waiting_.push_front(id);
    ++outcome_.preemptions;
    admission_.preempted();
  }

  void free(Request& r) {
    pool_.give_back(r.private_blocks);
    for (uint64_t piece = r.shared_pieces; piece-- > 0;) {
      pool_.leave(r.trace->prefix_hashes[piece]);
    }
    r.private_blocks = 0;
    r.shared_pieces = 0;
  }

  // Leading pieces of the prompt that are cached; the last token is always computed.
  uint64_t cached_pieces(const Request& r) const {
    if (!engine_.prefix_caching) return 0;
    uint64_t pieces = 0;
    while (pieces < r.trace->prefix_hashes.size() &&
           (pieces + 1) * piece_tokens_ < r.trace->prompt_tokens &&
           pool_.is_cached(r.trace->prefix_hashes[pieces])) {
      ++pieces;
    }
    return pieces;
  }

  void schedule_waiting() {
    while (!waiting_.empty() && budget_ > 0 && running_.size() < engine_.max_num_seqs) {
      const uint32_t id = waiting_.front();
      Request& r = requests_[id];
      const uint64_t pieces = cached_pieces(r);
      const uint64_t cached_tokens = pieces * piece_tokens_;
      const uint64_t tokens = std::min<uint64_t>(r.known() - cached_tokens, budget_);
      const uint64_t from_cache = pieces * pool_.piece_blocks();
      uint64_t revived = 0;
      for (uint64_t i = 0; i < pieces; ++i) revived += pool_.cost_of(r.trace->prefix_hashes[i]);
      const uint64_t now_needed = blocks_for(cached_tokens + tokens) - from_cache;
      const uint64_t whole = blocks_for(r.known()) - from_cache;
      const uint64_t asked = (engine_.reserve_full_prompt ? whole : now_needed) + revived;
      const uint64_t kept = scheduled_.empty() ? 0 : watermark_;
      if (asked + kept > pool_.free_blocks()) break;
      waiting_.pop_front();
      running_.push_back(id);
      if (!r.seen) waits_.push_back(now_ - r.arrival);
      r.seen = true;
      for (uint64_t i = 0; i < pieces; ++i) pool_.use(r.trace->prefix_hashes[i]);
      r.shared_pieces = pieces;
      r.computed = cached_tokens;
      schedule(id, tokens, now_needed);
    }
  }

  void schedule(uint32_t id, uint64_t tokens, uint64_t more_blocks) {
    Request& r = requests_[id];
    pool_.take(more_blocks);
    r.private_blocks += more_blocks;
    r.computed += tokens;
    budget_ -= tokens;
    scheduled_.push_back({id, tokens});
  }

  double seconds_of_step() const {
    uint64_t prefill = 0;
    uint64_t read = 0;
    for (const Scheduled& s : scheduled_) {
      if (s.tokens > 1) prefill += s.tokens;
      read += requests_[s.id].computed;
    }
    const StepTime& step = engine_.step;
    return (step.fixed_ms + step.prefill_token_ms * static_cast<double>(prefill)) / 1e3 +
           step.kv_token_us * static_cast<double>(read) / 1e6;
  }

  // Pieces of the prompt that are computed can be found by others from now on.
  void share_pieces(Request& r) {
    if (!engine_.prefix_caching) return;
    while (r.shared_pieces < r.trace->prefix_hashes.size() &&
           (r.shared_pieces + 1) * piece_tokens_ <=
               std::min<uint64_t>(r.computed, r.trace->prompt_tokens)) {
      if (!pool_.share(r.trace->prefix_hashes[r.shared_pieces])) break;
      r.private_blocks -= pool_.piece_blocks();
      ++r.shared_pieces;
    }
  }

  void finish_step() {
    finished_.clear();
    for (const Scheduled& s : scheduled_) {
      Request& r = requests_[s.id];
      share_pieces(r);
      if (r.computed < r.known()) continue;
      ++r.generated;
      ++outcome_.output_tokens;
      if (r.generated == r.output) finished_.push_back(s.id);
    }
    for (const uint32_t id : finished_) {
      free(requests_[id]);
      running_.erase(std::find(running_.begin(), running_.end(), id));
      admission_.release(id, requests_[id].output);
      ++outcome_.finished;
    }
  }

  Outcome summary() {
    outcome_.seconds = now_;
    outcome_.mean_running = steps_ == 0 ? 0.0 : running_sum_ / static_cast<double>(steps_);
    if (waits_.empty()) return outcome_;
    std::sort(waits_.begin(), waits_.end());
    double sum = 0.0;
    for (const double wait : waits_) sum += wait;
    outcome_.mean_wait_seconds = sum / static_cast<double>(waits_.size());
    outcome_.p95_wait_seconds = waits_[(waits_.size() - 1) * 95 / 100];
    return outcome_;
  }

  struct Scheduled {
    uint32_t id;
    uint64_t tokens;
  };

  const Engine& engine_;
  const MaxTokens& max_tokens_;
  uint64_t piece_tokens_;
  BlockPool pool_;
  uint64_t watermark_;
  Admission admission_;
  std::vector<Request> requests_;
  size_t arrived_ = 0;
  std::vector<uint32_t> running_;
  std::deque<uint32_t> waiting_;
  std::vector<Scheduled> scheduled_;
  std::vector<uint32_t> finished_;
  std::vector<double> waits_;
  uint64_t budget_ = 0;
  uint64_t steps_ = 0;
  double running_sum_ = 0.0;
  double now_ = 0.0;
  Outcome outcome_;
};

}  // namespace

uint32_t MaxTokens::of(const TraceRequest& request) const {
  switch (kind) {
    case Kind::kOracle:
      return request.output_tokens;
    case Kind::kTimes:
      return static_cast<uint32_t>(std::min<double>(std::numeric_limits<uint32_t>::max() / 2,
                                                    times * request.output_tokens));
    case Kind::kFixed:
      return std::max(tokens, request.output_tokens);
  }
  return request.output_tokens;
}

const char* policy_name(Policy policy) {
  switch (policy) {
    case Policy::kStock:
      return "stock";
    case Policy::kOptimistic:
      return "optimistic";
    case Policy::kStrict:
      return "strict";
  }
  return "";
}

Outcome run(const Trace& trace, const Engine& engine, Policy policy, const MaxTokens& max_tokens,
            double speedup) {
  return Simulation(trace, engine, policy, max_tokens, speedup).run();
}

}  // namespace kvbudget::simulate
