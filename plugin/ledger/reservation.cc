#include "plugin/ledger/reservation.h"

#include <algorithm>

namespace kvbudget::ledger {
namespace {

// Sums of sizes that a client sends do not wrap around.
uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

uint64_t blocks_for(uint64_t tokens, uint64_t block_tokens) {
  return tokens / block_tokens + (tokens % block_tokens == 0 ? 0 : 1);
}

}  // namespace

uint64_t request_blocks(std::span<const Group> groups, const RequestSize& size,
                        uint64_t max_model_len, bool partial_block) {
  uint64_t tokens = plus(plus(size.prompt_tokens, size.output_tokens), 1);
  tokens = plus(tokens, size.lookahead_tokens);
  if (max_model_len != 0) tokens = std::min(tokens, max_model_len);
  uint64_t blocks = 0;
  for (const Group& group : groups) {
    const uint64_t block_tokens = std::max<uint64_t>(group.block_tokens, 1);
    const uint64_t all = plus(blocks_for(tokens, block_tokens), partial_block ? 1 : 0);
    switch (group.kind) {
      case GroupKind::kFull:
        blocks = plus(blocks, all);
        break;
      case GroupKind::kBounded:
        blocks = plus(blocks, std::min(all, group.most_blocks));
        break;
      case GroupKind::kState:
        blocks = plus(blocks, group.most_blocks);
        break;
      case GroupKind::kCross:
        blocks = plus(blocks, blocks_for(size.encoder_tokens, block_tokens));
        break;
    }
  }
  return blocks;
}

}  // namespace kvbudget::ledger
