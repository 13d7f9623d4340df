#include "lint/simulate/admission.h"

#include <algorithm>

#include "plugin/ledger/reservation.h"

namespace kvbudget::simulate {

Admission::Admission(Policy policy, const Engine& engine, uint64_t budget_blocks, size_t requests)
    : policy_(policy), engine_(engine), keys_(256) {
  if (policy == Policy::kStock) return;
  ledger::Limits limits;
  limits.capacity_blocks = engine.usable_blocks;
  limits.budget_blocks = budget_blocks;
  limits.mode = policy == Policy::kStrict ? ledger::Mode::kStrict : ledger::Mode::kOptimistic;
  limits.max_requests = static_cast<uint32_t>(std::max<size_t>(requests, 1));
  ledger_.emplace(limits);
}

ledger::Answer Admission::admit(uint32_t id, const TraceRequest& request, uint32_t max_tokens,
                                double now) {
  if (!ledger_) return ledger::Answer::kAdmit;
  if (id >= asked_.size()) asked_.resize(id + 1);
  asked_[id] = {request.prompt_tokens, max_tokens};
  return ledger_->admit(id, 0, blocks_for(id), 0, now).answer;
}

uint64_t Admission::blocks_for(uint32_t id) const {
  const Asked& asked = asked_[id];
  const bool optimistic = policy_ == Policy::kOptimistic;
  const uint64_t output = optimistic ? lengths_.assumed(asked.max_tokens) : asked.max_tokens;
  const ledger::Group group = {ledger::GroupKind::kFull, engine_.block_tokens, 0};
  return ledger::request_blocks({&group, 1}, {asked.prompt_tokens, output, 0, 0},
                                engine_.max_model_len, false);
}

std::span<const uint32_t> Admission::promoted(uint64_t free_blocks, uint64_t held_blocks) {
  promoted_.clear();
  if (!ledger_) return promoted_;
  ledger_->reconcile(free_blocks, held_blocks);
  if (policy_ == Policy::kOptimistic) {
    promote_one_by_one();
    return promoted_;
  }
  const size_t count = ledger_->promote(keys_, 0.0);
  for (size_t i = 0; i < count; ++i) promoted_.push_back(static_cast<uint32_t>(keys_[i]));
  return promoted_;
}

// What a request waits for was assumed when it came, and many answers may have ended since.
void Admission::promote_one_by_one() {
  uint64_t key = 0;
  while (ledger_->next_held({&key, 1}) == 1) {
    ledger_->resize(key, blocks_for(static_cast<uint32_t>(key)));
    if (ledger_->promote({&key, 1}, 0.0) == 0) return;
    promoted_.push_back(static_cast<uint32_t>(key));
  }
}

void Admission::grow(uint32_t id, uint64_t blocks) {
  if (policy_ != Policy::kOptimistic) return;
  if (blocks > ledger_->reserved_for(id)) ledger_->resize(id, blocks);
}

void Admission::release(uint32_t id, uint64_t output_tokens) {
  if (!ledger_) return;
  lengths_.add(output_tokens);
  const uint64_t key = id;
  ledger_->release({&key, 1});
}

uint32_t Admission::pending() const { return ledger_ ? ledger_->statistics().pending : 0; }

}  // namespace kvbudget::simulate
