// A deployment and findings that the writers' tests share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lint/report/report.h"

namespace kvbudget {

inline Location place(const SourceFile& file, std::string_view needle) {
  const auto at = static_cast<uint32_t>(file.bytes().find(needle));
  return {&file, {at, at + static_cast<uint32_t>(needle.size())}};
}

inline Diagnostic finding_at(const SourceFile& file, std::string_view needle) {
  Diagnostic finding;
  finding.rule = "KVB103";
  finding.name = "max-model-len-exceeds-kv";
  finding.severity = Severity::kError;
  finding.where = place(file, needle);
  finding.message = "max-model-len 8192 needs 16.00 GiB";
  return finding;
}

/// An engine on one L4 that starts, with round numbers.
inline Deployment sample_deployment(const SourceFile& file) {
  Deployment d;
  d.start.file = &file;
  d.start.where = {&file, {0, 1}};
  d.start.kind = "compose";
  d.start.name = "service chat";
  d.version = {0, 19, 0};
  d.version_assumed = false;
  d.model = "org/name";
  d.gpu.emplace().name = "L4";
  d.gpu->memory_bytes = uint64_t{22} << 30;
  d.gpu_count = 2;
  d.engine.tensor_parallel = 2;
  memory::Estimate& e = d.estimate.emplace();
  e.terms = {{"weights", memory::Interval::exact(uint64_t{8} << 30), true, "safetensors index"},
             {"cuda_graphs",
              {uint64_t{1} << 29, uint64_t{1} << 30, uint64_t{3} << 29},
              false,
              "measured"}};
  e.total_bytes = d.gpu->memory_bytes;
  e.requested_bytes = uint64_t{20} << 30;
  e.available = {int64_t{3} << 30, int64_t{4} << 30, int64_t{5} << 30};
  e.groups = {{"full", 32, 65536, 16}};
  e.bytes_per_token = 4096;
  e.max_model_len = 8192;
  e.best.num_blocks = 65536;
  e.best.tokens = 1048576;
  e.best.max_concurrency = 128.004;
  e.best.longest_context = 1048576;
  e.low = e.high = e.best;
  e.verdict = memory::Verdict::kStarts;
  e.because = "4.00 GiB are left";
  return d;
}

}  // namespace kvbudget
