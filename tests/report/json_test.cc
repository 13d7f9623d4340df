// The shapes that other programs read: which keys there are, in which order, and what they hold.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/report/sample.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> keys(const Json& json) {
  std::vector<std::string> result;
  for (const auto& [key, value] : json.items()) result.push_back(key);
  return result;
}

template <typename Write>
Json written(Write write) {
  std::ostringstream out;
  write(out);
  return Json::parse(out.str());
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("lint writes findings with their place, notes and fix") {
  const SourceFile file("a.yaml", "a: 1\nlen: 8192\n");
  Report report;
  report.files = 4;
  report.deployments.push_back(sample_deployment(file));
  Diagnostic& finding = report.findings.emplace_back(finding_at(file, "8192"));
  finding.deployment = 0;
  finding.notes.push_back({"why", {}});
  finding.fix.emplace().edits.push_back({place(file, "8192"), "4096"});
  const Json json = written([&](std::ostream& out) { write_json(report, out); });

  CHECK(keys(json) == Keys{"schema", "tool", "deployments", "findings", "summary"});
  CHECK(json["schema"] == 1);
  CHECK(json["tool"]["name"] == "kvbudget");
  CHECK(json["deployments"].size() == 1);
  const Json& first = json["findings"][0];
  CHECK(keys(first) == Keys{"rule", "name", "severity", "file", "line", "column", "end_line",
                            "end_column", "message", "notes", "deployment", "fix", "fingerprint"});
  CHECK(first["severity"] == "error");
  CHECK(first["line"] == 2);
  CHECK(first["column"] == 6);
  CHECK(first["end_line"] == 2);
  CHECK(first["end_column"] == 10);
  CHECK(first["notes"][0]["message"] == "why");
  CHECK(first["deployment"] == 0);
  CHECK(first["fix"]["safety"] == "unsafe");
  CHECK(first["fix"]["edits"][0] == Json::parse(R"({"file":"a.yaml","start_line":2,"start_column":6,
                                        "end_line":2,"end_column":10,"text":"4096"})"));
  CHECK(json["summary"] ==
        Json::parse(R"({"files":4,"deployments":1,"errors":1,"warnings":0,"infos":0,"fixed":0,
                          "baselined":0})"));
}

TEST_CASE("what stands in no file is null") {
  Report report;
  report.findings.emplace_back().rule = "KVB001";
  const Json json = written([&](std::ostream& out) { write_json(report, out); });
  const Json& finding = json["findings"][0];
  for (const char* key :
       {"file", "line", "column", "end_line", "end_column", "deployment", "fix"}) {
    CAPTURE(key);
    CHECK(finding[key].is_null());
  }
}

TEST_CASE("bytes that are no UTF-8 do not break the JSON") {
  const SourceFile file("a\xff.yaml", "len: 8192\n");
  Report report;
  report.findings.push_back(finding_at(file, "8192"));
  report.findings[0].message = "value \xc3\x28";
  const Json json = written([&](std::ostream& out) { write_json(report, out); });
  CHECK(json["findings"][0]["file"] == "a\xEF\xBF\xBD.yaml");
}

TEST_CASE("inspect writes what was understood of a start and where it stands") {
  const SourceFile file("a.yaml", "len: 8192\nHF_TOKEN: hf_abc\n");
  Deployment d = sample_deployment(file);
  Setting setting;
  setting.value = "8192";
  setting.where = place(file, "8192");
  d.settings.set("max-model-len", setting);
  setting.value = "sk-abc";
  d.settings.set("api-key", setting);
  d.settings.unknown_flags.push_back({"swap-space", "--swap-space", {}});
  d.start.env.push_back({SourceText("VLLM_USE_V1"), SourceText("1"), true});
  d.start.env.push_back({SourceText("HF_TOKEN"), SourceText("hf_abc"), true});
  d.start.env.push_back({SourceText("POD_IP"), SourceText(""), false});
  d.missing.push_back({"gpu", "the file names no GPU", "pass --gpu NAME"});
  const Json json = written([&](std::ostream& out) { write_inspect_json({d}, out); });

  CHECK(keys(json) == Keys{"schema", "deployments"});
  const Json& one = json["deployments"][0];
  CHECK(keys(one) == Keys{"file", "line", "kind", "name", "engine", "model", "gpu", "nodes",
                          "replicas", "settings", "env", "unknown_flags", "missing"});
  CHECK(one["engine"]["name"] == "vllm");
  CHECK(one["engine"]["version"] == "0.19.0");
  CHECK(one["gpu"]["count"] == 2);
  const Json& length = one["settings"]["max-model-len"];
  CHECK(length["value"] == "8192");
  CHECK(length["line"] == 1);
  CHECK(length["column"] == 6);
  CHECK(length["origin"] == "flag");
  CHECK(one["env"]["VLLM_USE_V1"] == "1");
  CHECK(one["env"]["HF_TOKEN"] == "(hidden)");
  CHECK(one["settings"]["api-key"]["value"] == "(hidden)");
  CHECK(one["env"]["POD_IP"].is_null());
  CHECK(one["unknown_flags"] == Json::parse(R"(["--swap-space"])"));
  CHECK(one["missing"] == Json::parse(R"(["gpu"])"));
}

TEST_CASE("an assumed version is not called the version") {
  const SourceFile file("a.yaml", "x");
  Deployment d = sample_deployment(file);
  d.version_assumed = true;
  const Json json = written([&](std::ostream& out) { write_inspect_json({d}, out); });
  CHECK(json["deployments"][0]["engine"]["version"].is_null());
  CHECK(json["deployments"][0]["engine"]["assumed_version"] == "0.19.0");
}

TEST_CASE("estimate writes terms and capacity of a command line as one object") {
  const SourceFile file("a.yaml", "x");
  const Deployment d = sample_deployment(file);
  const Json json = written([&](std::ostream& out) { write_estimate_json({d}, true, out); });
  CHECK(json == Json::parse(R"({
    "schema": 1, "engine_version": "0.19.0", "model": "org/name",
    "gpu": {"name": "L4", "count": 2, "memory_bytes": 23622320128},
    "parallel": {"tp": 2, "pp": 1, "dp": 1},
    "terms": [
      {"name": "weights", "bytes": 8589934592, "low": 8589934592, "high": 8589934592,
       "source": "safetensors index"},
      {"name": "cuda_graphs", "bytes": 1073741824, "low": 536870912, "high": 1610612736,
       "source": "measured"}],
    "kv_cache": {"available_bytes": 4294967296, "low": 3221225472, "high": 5368709120,
      "groups": [{"kind": "full", "layers": 32, "bytes_per_block": 65536, "block_size": 16}],
      "bytes_per_token": 4096, "num_blocks": 65536, "tokens": 1048576, "max_concurrency": 128.0,
      "concurrency_8k": null, "max_model_len": 8192, "longest_context": 1048576},
    "verdict": "starts", "because": "4.00 GiB are left"})"));
}

TEST_CASE("estimate writes files as a list with the place of each start") {
  const SourceFile file("a.yaml", "x");
  const Deployment d = sample_deployment(file);
  const Json json = written([&](std::ostream& out) { write_estimate_json({d, d}, false, out); });
  CHECK(keys(json) == Keys{"schema", "estimates"});
  REQUIRE(json["estimates"].size() == 2);
  CHECK(json["estimates"][1]["file"] == "a.yaml");
  CHECK(json["estimates"][1]["line"] == 1);
  CHECK(json["estimates"][1]["verdict"] == "starts");
}

TEST_CASE("without an estimate the verdict is unsure and says what is missing") {
  Deployment d;
  d.missing.push_back({"gpu", "the command line names no GPU", "pass --gpu NAME"});
  const Json json = written([&](std::ostream& out) { write_estimate_json({d}, true, out); });
  CHECK(json["verdict"] == "unsure");
  CHECK(json["because"] == "not estimated: the command line names no GPU (pass --gpu NAME)");
  CHECK(json["terms"].empty());
  CHECK(json["kv_cache"].is_null());
  CHECK(json["gpu"].is_null());
}
