#include "lint/baseline.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace kvbudget {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

std::string text_of(const FindingIdentity& identity) {
  std::string text = identity.rule;
  for (const std::string* part : {&identity.deployment, &identity.subject}) {
    if (!part->empty()) text += " " + *part;
  }
  return text;
}

std::string text_or_empty(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

/// What is wrong with an entry, empty when nothing is.
std::string read_entry(const Json& json, Baseline& baseline) {
  if (!json.is_object()) return "expected an object";
  const std::string hash = text_or_empty(json, "fingerprint");
  if (hash.empty()) return "no fingerprint";
  uint64_t count = 1;
  if (const auto given = json.find("count"); given != json.end()) {
    if (!given->is_number_unsigned() || *given == 0) return "count must be a number above 0";
    count = given->get<uint64_t>();
  }
  BaselineEntry& entry = baseline[hash];
  entry.identity = {text_or_empty(json, "rule"), text_or_empty(json, "deployment"),
                    text_or_empty(json, "subject")};
  // Two branches that each added one of them were merged.
  entry.count = std::max(entry.count, count);
  return "";
}

bool ran(RuleTable rules, const std::string& id) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule* rule) { return rule->id == id; });
}

}  // namespace

Baseline baseline_of(const std::vector<Diagnostic>& findings,
                     std::span<const Deployment> deployments) {
  Baseline baseline;
  for (const Diagnostic& finding : findings) {
    BaselineEntry& entry = baseline[hash_of_fingerprint(finding.fingerprint)];
    entry.identity = identity_of(finding, deployments);
    ++entry.count;
  }
  return baseline;
}

std::string baseline_text(const Baseline& baseline) {
  std::vector<std::pair<FindingIdentity, std::string>> lines;
  for (const auto& [hash, entry] : baseline) {
    const Json json = {{"fingerprint", hash},
                       {"rule", entry.identity.rule},
                       {"deployment", entry.identity.deployment},
                       {"subject", entry.identity.subject},
                       {"count", entry.count}};
    lines.emplace_back(entry.identity, json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  std::sort(lines.begin(), lines.end());
  std::string text = "{\"schema\": " + std::to_string(kSchema) + ", \"findings\": [";
  for (size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "\n" : ",\n") + lines[i].second;
  return text + "\n]}\n";
}

BaselineResult read_baseline(std::string_view text) {
  const BaselineResult unreadable = {{}, "this is no baseline; --write-baseline writes one"};
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return unreadable;
  const auto schema = json.find("schema");
  const auto findings = json.find("findings");
  if (schema == json.end() || findings == json.end() || !findings->is_array()) return unreadable;
  if (*schema != kSchema) return {{}, "the schema is " + schema->dump() + ", expected 1"};
  BaselineResult result;
  for (size_t i = 0; i < findings->size(); ++i) {
    const std::string error = read_entry((*findings)[i], result.baseline);
    if (!error.empty()) return {{}, "findings[" + std::to_string(i) + "]: " + error};
  }
  return result;
}

BaselineUse hide_known(const Baseline& baseline, RuleTable rules,
                       std::vector<Diagnostic>& findings) {
  BaselineUse use;
  std::map<std::string, uint64_t> found;
  std::erase_if(findings, [&](const Diagnostic& finding) {
    const std::string hash = hash_of_fingerprint(finding.fingerprint);
    const auto entry = baseline.find(hash);
    const bool known = entry != baseline.end() && ++found[hash] <= entry->second.count;
    use.hidden += known ? 1 : 0;
    return known;
  });
  for (const auto& [hash, entry] : baseline) {
    const uint64_t held = entry.count - std::min(entry.count, found[hash]);
    if (held == 0 || !ran(rules, entry.identity.rule)) continue;
    use.stale.push_back(text_of(entry.identity) + (held > 1 ? " x " + std::to_string(held) : ""));
  }
  std::sort(use.stale.begin(), use.stale.end());
  return use;
}

}  // namespace kvbudget
