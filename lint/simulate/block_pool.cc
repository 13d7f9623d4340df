#include "lint/simulate/block_pool.h"

namespace kvbudget::simulate {

void BlockPool::evict_for(uint64_t blocks) {
  while (!idle_.empty() && usable_ - used_ - idle_.size() * piece_blocks_ < blocks) {
    pieces_.erase(idle_.front());
    idle_.pop_front();
  }
}

void BlockPool::take(uint64_t blocks) {
  evict_for(blocks);
  used_ += blocks;
}

uint64_t BlockPool::cost_of(uint64_t hash) const {
  const auto piece = pieces_.find(hash);
  return piece != pieces_.end() && piece->second.users == 0 ? piece_blocks_ : 0;
}

void BlockPool::use(uint64_t hash) {
  Piece& piece = pieces_.at(hash);
  if (piece.users++ > 0) return;
  idle_.erase(piece.idle);
  used_ += piece_blocks_;
}

void BlockPool::leave(uint64_t hash) {
  Piece& piece = pieces_.at(hash);
  if (--piece.users > 0) return;
  piece.idle = idle_.insert(idle_.end(), hash);
  used_ -= piece_blocks_;
}

bool BlockPool::share(uint64_t hash) {
  const auto [piece, added] = pieces_.try_emplace(hash);
  if (added) piece->second.users = 1;
  return added;
}

}  // namespace kvbudget::simulate
