// The table of `kvbudget size`: one card a row, with the settings that it needs.
#include <ostream>
#include <string>

#include "lint/memory/format.h"
#include "lint/report/columns.h"
#include "lint/report/json.h"
#include "lint/report/report.h"

namespace kvbudget {

namespace {

std::string flags_of(const Deployment& d) {
  std::string flags = "--tensor-parallel-size " + std::to_string(d.engine.tensor_parallel);
  for (const char* name : {"gpu-memory-utilization", "kv-cache-dtype"}) {
    if (d.settings.has(name)) flags += " --" + std::string(name) + " " + d.settings.text(name);
  }
  return flags;
}

}  // namespace

void write_size_text(const std::vector<Deployment>& options, std::ostream& out) {
  if (options.empty()) {
    out << "no known GPU serves this with up to 16 of its kind\n";
    return;
  }
  out << padded("GPUs", 36) << padded("requests that fit", 20) << "settings\n";
  for (const Deployment& d : options) {
    const memory::Estimate& e = *d.estimate;
    const std::string fits = memory::decimal_text(e.low.max_concurrency, 1) + " to " +
                             memory::decimal_text(e.high.max_concurrency, 1);
    out << padded(std::to_string(d.gpu_count) + " x " + d.gpu->name, 36) << padded(fits, 20)
        << flags_of(d) << '\n';
  }
}

void write_size_json(const std::vector<Deployment>& options, std::ostream& out) {
  Json json = {{"schema", kJsonSchema}, {"options", Json::array()}};
  for (const Deployment& d : options) {
    const memory::Estimate& e = *d.estimate;
    json["options"].push_back({{"gpu", {{"name", d.gpu->name}, {"count", d.gpu_count}}},
                               {"flags", flags_of(d)},
                               {"max_concurrency",
                                {{"low", e.low.max_concurrency},
                                 {"best", e.best.max_concurrency},
                                 {"high", e.high.max_concurrency}}},
                               {"longest_context", e.best.longest_context}});
  }
  print_json(json, out);
}

}  // namespace kvbudget
