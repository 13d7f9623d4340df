// The blocks of a simulated engine: how many are in use, and which pieces of prompts are cached.
// Blocks are counted, not numbered; a piece of a prompt (512 tokens in the traces) is cached and
// evicted as a whole. Cached pieces that no request uses count as free, oldest evicted first, as in
// vllm/v1/core/block_pool.py.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

namespace kvbudget::simulate {

class BlockPool {
 public:
  BlockPool(uint64_t usable_blocks, uint64_t piece_blocks)
      : usable_(usable_blocks), piece_blocks_(piece_blocks) {}

  uint64_t free_blocks() const { return usable_ - used_; }
  uint64_t used_blocks() const { return used_; }
  uint64_t piece_blocks() const { return piece_blocks_; }

  /// Blocks that no other request sees; there must be that many free ones.
  void take(uint64_t blocks);
  void give_back(uint64_t blocks) { used_ -= blocks; }

  bool is_cached(uint64_t hash) const { return pieces_.contains(hash); }
  /// Blocks that using a cached piece would take from the free ones.
  uint64_t cost_of(uint64_t hash) const;
  void use(uint64_t hash);
  void leave(uint64_t hash);
  /// The owner of a piece's blocks shares them from now on. False when another one does already.
  bool share(uint64_t hash);

 private:
  struct Piece {
    uint32_t users = 0;
    std::list<uint64_t>::iterator idle;  ///< place in idle_, when nobody uses it
  };
  void evict_for(uint64_t blocks);

  uint64_t usable_;
  uint64_t piece_blocks_;
  uint64_t used_ = 0;
  std::unordered_map<uint64_t, Piece> pieces_;
  std::list<uint64_t> idle_;  ///< oldest first
};

}  // namespace kvbudget::simulate
