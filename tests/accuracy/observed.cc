#include "tests/accuracy/observed.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lint/resolve_deployment.h"
#include "tests/support/shared.h"

namespace kvbudget::test {
namespace {

using nlohmann::json;

template <typename T>
void read(const json& from, const char* key, std::optional<T>& into) {
  if (from.contains(key)) into = from.at(key).get<T>();
}

ObservedRun read_run(const json& row) {
  ObservedRun run;
  run.id = row.at("id");
  run.model = row.value("model", "");
  run.config = row.value("config", "");
  run.shape_only = row.value("kv_shape_only", false);
  run.engine = row.at("engine");
  run.gpu = row.value("gpu", "");
  run.gpus = row.value("gpus", 1U);
  run.argv = row.at("argv").get<std::vector<std::string>>();
  if (row.contains("env")) {
    for (const auto& [name, value] : row.at("env").items())
      run.env.emplace_back(name, value.get<std::string>());
  }
  run.usable_for = row.at("usable_for").get<std::vector<std::string>>();
  const json& truth = row.at("truth");
  run.outcome = truth.at("outcome");
  read(truth, "or_outcome", run.or_outcome);
  read(truth, "weights_gib", run.weights_gib);
  read(truth, "activation_gib", run.activation_gib);
  read(truth, "non_torch_gib", run.non_torch_gib);
  read(truth, "kv_available_gib", run.kv_available_gib);
  read(truth, "graph_gib", run.graph_gib);
  read(truth, "needed_kv_gib", run.needed_kv_gib);
  read(truth, "est_max_len", run.est_max_len);
  run.kv_of_other_rank = truth.value("kv_of_other_rank", false);
  read(truth, "max_concurrency", run.max_concurrency);
  read(truth, "blocks", run.blocks);
  read(truth, "kv_tokens", run.kv_tokens);
  return run;
}

std::string config_path(const ObservedRun& run) {
  for (const char* folder : {"groundtruth/models/", "corpus/models/"}) {
    const std::filesystem::path path = shared_path(folder + run.config);
    if (std::filesystem::is_regular_file(path)) return path.string();
  }
  return "";
}

// "Qwen__Qwen3-14B.json" is Qwen/Qwen3-14B.
std::string config_name(const ObservedRun& run) {
  std::string name = run.config.substr(0, run.config.rfind('.'));
  const size_t separator = name.find("__");
  return separator == std::string::npos ? name : name.replace(separator, 2, "/");
}

}  // namespace

bool ObservedRun::usable(std::string_view what) const {
  return std::find(usable_for.begin(), usable_for.end(), what) != usable_for.end();
}

std::vector<ObservedRun> observed_runs() {
  std::vector<ObservedRun> runs;
  std::ifstream lines(std::string(KVB_SOURCE_DIR) + "/fixtures/observed/runs.jsonl");
  constexpr Version kFirst{0, 6, 0};
  for (std::string line; std::getline(lines, line);) {
    ObservedRun run = read_run(json::parse(line));
    const std::optional<Version> version = parse_version(run.engine);
    if (version && *version >= kFirst) runs.push_back(std::move(run));
  }
  return runs;
}

std::optional<Deployment> judge(const ObservedRun& run) {
  std::vector<std::string> words;
  for (const auto& [name, value] : run.env) words.push_back(name + "=" + value);
  words.insert(words.end(), run.argv.begin(), run.argv.end());
  // Another checkpoint's config comes under its own name.
  if (run.shape_only) std::replace(words.begin(), words.end(), run.model, config_name(run));
  const FileContents contents = read_command_line(words);
  if (contents.starts.size() != 1) return std::nullopt;

  DiskFiles disk;
  SourceStore sources(disk);
  Inputs inputs;
  inputs.sources = &sources;
  inputs.engine = parse_version(run.engine);
  if (const Gpu* gpu = find_gpu(run.gpu)) inputs.gpu = *gpu;
  inputs.gpu_count = run.gpus;
  const std::string config = config_path(run);
  if (!config.empty()) inputs.models.configs.push_back({"", config});
  Deployment deployment = resolve_deployment(contents.starts.front(), inputs);
  if (!deployment.shape && config.empty()) return std::nullopt;
  return deployment;
}

const Collection& collection() {
  static const Collection result = [] {
    Collection all;
    for (ObservedRun& run : observed_runs()) {
      std::optional<Deployment> d = judge(run);
      if (d && d->estimate) {
        all.judged.push_back({std::move(run), std::move(*d)});
        continue;
      }
      const bool reason = d && !d->missing.empty();
      all.unknown.push_back(run.id + ": " + (reason ? d->missing.front().detail : "no config"));
      if (d && d->shape) all.unplaced.push_back({std::move(run), std::move(*d)});
    }
    return all;
  }();
  return result;
}

}  // namespace kvbudget::test
