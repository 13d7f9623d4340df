// Where the memory of one rank goes and what is left for the KV cache. GPU counts and parallel
// sizes are of the whole engine, bytes of its tightest rank.
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "lint/memory/format.h"
#include "lint/report/json.h"
#include "lint/report/report.h"
#include "lint/report/snippet.h"

namespace kvbudget {

using memory::Capacity;
using memory::Estimate;

namespace {

uint32_t ranks(const memory::EngineSettings& engine) {
  return engine.tensor_parallel * engine.pipeline_parallel * engine.data_parallel;
}

// The GPUs that were named, or the ones that the parallel sizes take.
uint32_t gpus_in_use(const Deployment& deployment) {
  return deployment.gpu_count != 0 ? deployment.gpu_count : ranks(deployment.engine);
}

}  // namespace

std::string missing_text(const Deployment& deployment) {
  if (deployment.missing.empty()) return "the model generates no text, so it has no KV cache";
  std::string text = "not estimated: ";
  for (const MissingInput& input : deployment.missing) {
    if (&input != &deployment.missing.front()) text += "; ";
    text += input.detail + " (" + input.hint + ")";
  }
  return text;
}

Json groups_json(const Estimate& estimate) {
  Json groups = Json::array();
  for (const memory::CacheGroup& group : estimate.groups) {
    groups.push_back({{"kind", group.kind},
                      {"layers", group.layers},
                      {"bytes_per_block", group.bytes_per_block},
                      {"block_size", group.block_tokens}});
  }
  return groups;
}

Json terms_json(const Estimate& estimate) {
  Json terms = Json::array();
  for (const memory::Term& term : estimate.terms) {
    terms.push_back({{"name", term.name},
                     {"bytes", term.bytes.best},
                     {"low", term.bytes.low},
                     {"high", term.bytes.high},
                     {"source", term.source}});
  }
  return terms;
}

namespace {

Json capacity_json(const Estimate& estimate) {
  Json json = {{"available_bytes", estimate.available.best},
               {"low", estimate.available.low},
               {"high", estimate.available.high},
               {"groups", groups_json(estimate)}};
  json["bytes_per_token"] = estimate.bytes_per_token;
  json["num_blocks"] = estimate.best.num_blocks;
  json["tokens"] = estimate.best.tokens;
  json["max_concurrency"] = hundredths(estimate.best.max_concurrency);
  json["concurrency_8k"] = nullptr;
  if (const auto& requests = estimate.best.example_concurrency) {
    json["concurrency_8k"] = hundredths(*requests);
  }
  json["max_model_len"] = estimate.max_model_len;
  json["longest_context"] = estimate.best.longest_context;
  return json;
}

Json estimate_json(const Deployment& deployment) {
  const memory::EngineSettings& engine = deployment.engine;
  Json json = {{"schema", kJsonSchema},
               {"engine_version", deployment.version.str()},
               {"model", text_or_null(deployment.model)},
               {"gpu", nullptr},
               {"parallel",
                {{"tp", engine.tensor_parallel},
                 {"pp", engine.pipeline_parallel},
                 {"dp", engine.data_parallel}}},
               {"terms", Json::array()},
               {"kv_cache", nullptr},
               {"verdict", memory::verdict_name(memory::Verdict::kUnsure)},
               {"because", missing_text(deployment)}};
  if (deployment.gpu) {
    json["gpu"] = {{"name", deployment.gpu->name},
                   {"count", gpus_in_use(deployment)},
                   {"memory_bytes", deployment.gpu->memory_bytes}};
  }
  if (!deployment.estimate) return json;
  json["terms"] = terms_json(*deployment.estimate);
  json["kv_cache"] = capacity_json(*deployment.estimate);
  json["verdict"] = memory::verdict_name(deployment.estimate->verdict);
  json["because"] = deployment.estimate->because;
  return json;
}

struct Row {
  std::string name, low, best, high, remark;
};

std::string number(uint64_t bytes) { return memory::gib_number(static_cast<int64_t>(bytes)); }

std::vector<Row> memory_rows(const Deployment& deployment) {
  const Estimate& estimate = *deployment.estimate;
  std::vector<Row> rows = {{"GiB per GPU", "low", "best", "high", ""}};
  if (estimate.requested_bytes != 0) {
    rows.push_back({"budget", "", number(estimate.requested_bytes), "",
                    memory::decimal_text(deployment.engine.gpu_memory_utilization, 4) + " x " +
                        memory::gib_text(estimate.total_bytes)});
  }
  for (const memory::Term& term : estimate.terms) {
    // In brackets: taken beside the budget, so not subtracted from it.
    rows.push_back({term.in_budget ? term.name : "(" + term.name + ")", number(term.bytes.low),
                    number(term.bytes.best), number(term.bytes.high), term.source});
  }
  const memory::SignedInterval& available = estimate.available;
  rows.push_back({"KV cache", memory::gib_number(available.low), memory::gib_number(available.best),
                  memory::gib_number(available.high), ""});
  return rows;
}

template <typename Text>
Row capacity_row(std::string name, const Estimate& estimate, Text text) {
  return {std::move(name), text(estimate.low), text(estimate.best), text(estimate.high), ""};
}

std::vector<Row> capacity_rows(const Estimate& estimate) {
  using memory::with_commas;
  return {
      capacity_row("blocks", estimate, [](const Capacity& c) { return with_commas(c.num_blocks); }),
      capacity_row("tokens", estimate, [](const Capacity& c) { return with_commas(c.tokens); }),
      capacity_row("requests of " + with_commas(estimate.max_model_len) + " tokens", estimate,
                   [](const Capacity& c) { return memory::decimal_text(c.max_concurrency, 2); }),
      capacity_row("longest context", estimate,
                   [](const Capacity& c) { return with_commas(c.longest_context); }),
  };
}

void write_table(const std::vector<Row>& rows, std::ostream& out) {
  size_t name_width = 0;
  size_t number_width = 0;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    number_width = std::max({number_width, row.low.size(), row.best.size(), row.high.size()});
  }
  for (const Row& row : rows) {
    std::string line = "  " + row.name + std::string(name_width - row.name.size(), ' ');
    for (const std::string* cell : {&row.low, &row.best, &row.high}) {
      line += std::string(number_width - cell->size() + 2, ' ') + *cell;
    }
    if (!row.remark.empty()) line += "  " + row.remark;
    out << line << '\n';
  }
}

void write_heading(const Deployment& deployment, std::ostream& out) {
  const Location& where = deployment.start.where;
  if (where) {
    out << where.file->path() << ':' << where.file->position(where.range.begin).line << ": ";
  }
  out << (deployment.model.empty() ? "model not known" : printable(deployment.model));
  if (deployment.gpu) out << " on " << gpus_in_use(deployment) << " x " << deployment.gpu->name;
  const memory::EngineSettings& engine = deployment.engine;
  out << ", vllm " << deployment.version.str() << (deployment.version_assumed ? " (assumed)" : "")
      << ", tensor parallel " << engine.tensor_parallel;
  if (engine.pipeline_parallel > 1) out << ", pipeline parallel " << engine.pipeline_parallel;
  if (engine.data_parallel > 1) out << ", data parallel " << engine.data_parallel;
  out << '\n';
}

void write_one(const Deployment& deployment, std::ostream& out) {
  write_heading(deployment, out);
  if (!deployment.estimate) {
    out << "  " << printable(missing_text(deployment)) << '\n';
    return;
  }
  const Estimate& estimate = *deployment.estimate;
  std::vector<Row> rows = memory_rows(deployment);
  for (Row& row : capacity_rows(estimate)) rows.push_back(std::move(row));
  write_table(rows, out);
  out << "  verdict: " << memory::verdict_name(estimate.verdict);
  if (!estimate.because.empty()) out << ": " << printable(estimate.because);
  out << '\n';
}

}  // namespace

void write_estimate_text(const std::vector<Deployment>& deployments, std::ostream& out) {
  bool first = true;
  for (const Deployment& deployment : deployments) {
    if (!first) out << '\n';
    first = false;
    write_one(deployment, out);
  }
}

Json estimate_json_in_file(const Deployment& deployment) {
  Json json = estimate_json(deployment);
  const Location& where = deployment.start.where;
  json["file"] = file_of(where);
  json["line"] = where ? Json(where.file->position(where.range.begin).line) : Json();
  return json;
}

void write_estimate_json(const std::vector<Deployment>& deployments, bool single,
                         std::ostream& out) {
  if (single) return print_json(estimate_json(deployments.front()), out);
  Json json = {{"schema", kJsonSchema}, {"estimates", Json::array()}};
  for (const Deployment& deployment : deployments) {
    json["estimates"].push_back(estimate_json_in_file(deployment));
  }
  print_json(json, out);
}

}  // namespace kvbudget
