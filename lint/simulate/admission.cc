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
  const bool optimistic = policy_ == Policy::kOptimistic;
  const uint64_t output = optimistic ? lengths_.assumed(max_tokens) : max_tokens;
  const ledger::Group group = {ledger::GroupKind::kFull, engine_.block_tokens, 0};
  const uint64_t blocks = ledger::request_blocks({&group, 1}, {request.prompt_tokens, output, 0, 0},
                                                 engine_.max_model_len, false);
  return ledger_->admit(id, 0, blocks, 0, now).answer;
}

std::span<const uint32_t> Admission::promoted(uint64_t free_blocks, uint64_t held_blocks) {
  promoted_.clear();
  if (!ledger_) return promoted_;
  ledger_->reconcile(free_blocks, held_blocks);
  const size_t count = ledger_->promote(keys_, 0.0);
  for (size_t i = 0; i < count; ++i) promoted_.push_back(static_cast<uint32_t>(keys_[i]));
  return promoted_;
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
