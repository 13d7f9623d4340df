#include "tests/kernels/run_decode_body.h"

#include <algorithm>

#include "kernels/decode/decode_body.h"
#include "tests/support/catch.h"

namespace kvbudget::kernels::test {
namespace {

/// Everything that a launch may touch.
struct Launch {
  kvb_decode_args args;
  std::vector<int32_t> work;
  AlignedBytes workspace;
  CheckedMemory memory;

  Launch(DecodeCase& c, int32_t target_ctas, int32_t capacity) : args(c.args) {
    const int32_t most = capacity > 0 ? capacity : 4096;
    work.resize(static_cast<size_t>(args.num_sequences + 1 + 2 * most));
    REQUIRE(kvb_plan_decode(&args, target_ctas, work.data(), most, &args.plan) == KVB_OK);
    if (capacity == 0) {
      args.plan.num_work = work[static_cast<size_t>(args.num_sequences)];
      work.resize(static_cast<size_t>(args.num_sequences + 1 + 2 * args.plan.num_work));
    }
    workspace = AlignedBytes(static_cast<size_t>(args.plan.num_work) *
                                 static_cast<size_t>(args.query_tokens * args.num_query_heads) *
                                 static_cast<size_t>(args.pages.head_dim + 2) * sizeof(float),
                             0xff);
    args.plan.work = work.data();
    args.plan.workspace = workspace.data();
    memory.readable("pages", c.cache.bytes.data(), c.cache.bytes.size());
    memory.readable("queries", c.query_bytes.data(), c.query_bytes.size());
    memory.writable("output", c.output_bytes.data(), c.output_bytes.size());
    memory.writable("lse", c.lse.data(), c.lse.size() * sizeof(float));
    memory.readable("block table", c.block_table.data(), c.block_table.size() * sizeof(int32_t));
    memory.readable("lengths", c.args.lengths, c.shape.lengths.size() * sizeof(int32_t));
    memory.readable("work", work.data(), work.size() * sizeof(int32_t));
    memory.readable("sinks", c.sinks.data(), c.sinks.size() * sizeof(float));
    memory.writable("workspace", workspace.data(), workspace.size());
    if (!c.cache.key_scales.empty()) {
      const size_t bytes = c.cache.key_scales.size() * sizeof(float);
      memory.readable("key scales", c.cache.key_scales.data(), bytes);
      memory.readable("value scales", c.cache.value_scales.data(), bytes);
    }
  }
};

/// One block of threads: phases of all warps between barriers.
template <Reading kReading, int kDim, int kColumnTiles, ElementType kType>
void run_block(Launch& launch, const DecodeWork& work) {
  using Machine = HostDecodeWarp<kReading>;
  using Warp = DecodeWarp<Machine, kDim, kColumnTiles, kType>;
  std::vector<float> shared(Warp::kSharedFloats);
  CheckedMemory memory = launch.memory;  // its own shared memory beside the launch's
  memory.writable("shared", shared.data(), shared.size() * sizeof(float));
  for (const bool finish : {false, true}) {
    for (int warp = 0; warp < kWarps; ++warp) {
      memory.set_warp(warp);
      Machine machine(memory);
      Warp body{{machine, launch.args, work}, warp, shared.data()};
      if (finish) {
        body.finish();
      } else {
        body.accumulate();
      }
    }
    memory.next_phase();
  }
  memory.forget("shared");
  launch.memory = std::move(memory);
}

template <Reading kReading, int kDim, int kColumnTiles, ElementType kType>
void run_launch(Launch& launch, const DecodeCase& c, BodyRun* run) {
  using Machine = HostDecodeWarp<kReading>;
  constexpr int kColumns = 8 * kColumnTiles;
  const kvb_decode_args& a = launch.args;
  const int32_t rows = a.query_tokens * c.shape.group;
  for (int32_t piece = 0; piece < a.plan.num_work; ++piece) {
    for (int32_t head = 0; head < a.pages.num_kv_heads; ++head) {
      for (int32_t tile = 0; tile * kColumns < rows; ++tile) {
        DecodeWork work{};
        Machine machine(launch.memory);
        if (!open_work(machine, a, piece, head, tile, kColumns, &work)) continue;
        run_block<kReading, kDim, kColumnTiles, kType>(launch, work);
        run->most_splits = std::max(run->most_splits, work.num_splits);
        ++run->num_pieces;
      }
    }
  }
  int32_t warp = 0;
  for (int32_t s = 0; s < a.num_sequences; ++s) {
    for (int32_t token = 0; token < a.query_tokens; ++token) {
      for (int32_t head = 0; head < a.num_query_heads; ++head) {
        launch.memory.set_warp(warp++);
        Machine machine(launch.memory);
        merge_row_of_pieces<Machine, kDim>(machine, a, s, token, head);
      }
    }
  }
  run->faults = launch.memory.faults();
}

template <Reading kReading, int kColumnTiles, ElementType kType>
void run_dim(Launch& launch, const DecodeCase& c, BodyRun* run) {
  switch (c.shape.cache.head_dim) {
    case 64:
      return run_launch<kReading, 64, kColumnTiles, kType>(launch, c, run);
    case 96:
      return run_launch<kReading, 96, kColumnTiles, kType>(launch, c, run);
    case 128:
      return run_launch<kReading, 128, kColumnTiles, kType>(launch, c, run);
    default:
      return run_launch<kReading, 256, 1, kType>(launch, c, run);
  }
}

}  // namespace

BodyRun run_decode_body(DecodeCase* c, Reading reading, int32_t column_tiles, int32_t target_ctas,
                        int32_t capacity) {
  Launch launch(*c, target_ctas, capacity);
  BodyRun run;
  constexpr ElementType kE4 = ElementType::kFloat8E4M3;
  if (c->shape.cache.type == KVB_FLOAT8_E5M2)  // both generations read it the same way
    run_dim<Reading::kConverts, 1, ElementType::kFloat8E5M2>(launch, *c, &run);
  else if (reading == Reading::kShifts)
    run_dim<Reading::kShifts, 1, kE4>(launch, *c, &run);
  else if (column_tiles == 2)
    run_dim<Reading::kConverts, 2, kE4>(launch, *c, &run);
  else
    run_dim<Reading::kConverts, 1, kE4>(launch, *c, &run);
  return run;
}

}  // namespace kvbudget::kernels::test
