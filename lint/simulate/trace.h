// Recorded requests: when they came, how long they were, what they share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvbudget::simulate {

struct TraceRequest {
  double arrival_seconds = 0.0;  ///< since the first one
  uint32_t prompt_tokens = 0;
  uint32_t output_tokens = 0;           ///< that were generated, at least 1
  std::vector<uint64_t> prefix_hashes;  ///< of the prompt's leading pieces; empty: shares nothing
};

struct Trace {
  std::vector<TraceRequest> requests;  ///< by arrival
  uint32_t prefix_tokens = 512;        ///< of a piece with a hash
  std::string error;                   ///< "line 3: …"; then there are no requests
};

/// Reads the two formats that public traces have: the CSV of Azure's LLM inference traces
/// (TIMESTAMP,ContextTokens,GeneratedTokens; AzurePublicDataset) and Mooncake's JSON lines
/// (timestamp in ms, input_length, output_length, hash_ids of 512 tokens each; FAST'25 release).
Trace read_trace(std::string_view text);

}  // namespace kvbudget::simulate
