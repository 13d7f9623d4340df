// Runs both of decode's GPU kernels on the host, as their launch would.
#pragma once

#include <string>
#include <vector>

#include "tests/kernels/decode_case.h"
#include "tests/kernels/host_decode_warp.h"

namespace kvbudget::kernels::test {

struct BodyRun {
  std::vector<std::string> faults;  ///< of memory accesses
  int32_t num_pieces = 0;
  int32_t most_splits = 0;  ///< of a sequence
};

/// `target_ctas` as for kvb_plan_decode; `capacity` 0: as many as there are pieces.
BodyRun run_decode_body(DecodeCase* c, Reading reading, int32_t column_tiles, int32_t target_ctas,
                        int32_t capacity);

}  // namespace kvbudget::kernels::test
