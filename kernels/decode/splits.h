// Query rows that share their keys, taken split by split: tasks of a fixed number of tokens, so
// that results depend on lengths alone and not on threads; whoever ends a group's last split joins
// its parts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "kernels/common/parallel_for.h"
#include "kernels/decode/merge.h"
#include "kernels/decode/numbers.h"
#include "kernels/decode/row_limits.h"

namespace kvbudget::kernels {

/// What a loop sums one split's rows into.
struct SplitResult {
  float* output;   // [padded rows, dim]
  float* row_max;  // [padded rows]
  float* row_sum;
};

struct SplitRows {
  TokenRange tokens{};
  int32_t num_splits = 0;
  int32_t split_tokens = 0;
  int32_t padded = 0;  ///< rows of one split
  int32_t dim = 0;     ///< of an output row
  std::vector<float> output, row_max, row_sum;
  std::atomic<int32_t> splits_left{0};

  /// Also without tokens there is a split: it writes zeros.
  void open(TokenRange range, int32_t tokens_of_split, int32_t padded_rows, int32_t row_dim) {
    tokens = range;
    split_tokens = tokens_of_split;
    padded = padded_rows;
    dim = row_dim;
    const int32_t count = std::max(0, range.end - range.begin);
    num_splits = std::max(1, (count + split_tokens - 1) / split_tokens);
    splits_left = num_splits;
    const auto rows = static_cast<size_t>(num_splits) * static_cast<size_t>(padded);
    output.assign(rows * static_cast<size_t>(dim), 0.f);
    row_max.assign(rows, kLowestScore);
    row_sum.assign(rows, 0.f);
  }

  TokenRange tokens_of(int32_t split) const {
    const int32_t begin = tokens.begin + split * split_tokens;
    return {begin, std::min(tokens.end, begin + split_tokens)};
  }

  SplitResult result_of(int32_t split) {
    const size_t row = static_cast<size_t>(split) * static_cast<size_t>(padded);
    return {output.data() + row * static_cast<size_t>(dim), row_max.data() + row,
            row_sum.data() + row};
  }

  RowParts parts_of(int32_t row) const {
    return {output.data() + int64_t{row} * dim, row_max.data() + row, row_sum.data() + row,
            num_splits, padded};
  }
};

/// How many of a sequence's `run` groups a task takes together: as many as leave threads enough to
/// share. Results do not depend on it.
int32_t groups_together(int64_t num_splits, int32_t run, int32_t num_threads);

/// take(first group, count, split) over all splits that have tokens; merge(group) once per group,
/// after its last. Groups come in runs of one sequence, whose splits are alike.
template <typename Group, typename Take, typename Merge>
void run_splits(Group* groups, size_t num_groups, int32_t run, int32_t num_threads,
                const Take& take, const Merge& merge) {
  struct Task {
    Group* first;
    int32_t count, split;
  };
  int64_t num_splits = 0;
  for (size_t i = 0; i < num_groups; ++i) num_splits += groups[i].num_splits;
  const int32_t together = groups_together(num_splits, run, num_threads);
  std::vector<Task> tasks;
  for (size_t begin = 0; begin < num_groups; begin += static_cast<size_t>(run))
    for (int32_t split = 0; split < groups[begin].num_splits; ++split)
      for (int32_t i = 0; i < run; i += together)
        tasks.push_back({groups + begin + i, std::min(together, run - i), split});
  parallel_for(num_threads, static_cast<int64_t>(tasks.size()), [&](int64_t at) {
    const Task& task = tasks[static_cast<size_t>(at)];
    const TokenRange tokens = task.first->tokens_of(task.split);
    if (tokens.begin < tokens.end) take(task.first, task.count, task.split);
    for (Group* group = task.first; group < task.first + task.count; ++group)
      if (--group->splits_left == 0) merge(*group);
  });
}

/// Lengths, query starts and blocks of a batch lie within its bounds.
bool is_sound_batch(const kvb_decode_args& args);

/// Element `at` of the queries.
float query_element(const kvb_decode_args& args, int64_t at);

}  // namespace kvbudget::kernels
