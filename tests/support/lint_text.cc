#include "tests/support/lint_text.h"

#include <sstream>

#include "lint/check.h"
#include "lint/collect.h"
#include "lint/inputs.h"
#include "lint/resolve_deployment.h"
#include "rules/all_rules.h"
#include "tests/support/memory_files.h"

namespace kvbudget::test {

LineRules expected(std::string_view text) {
  constexpr std::string_view kMarker = "# expect: ";
  LineRules result;
  std::istringstream lines{std::string(text)};
  uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const size_t marker = line.find(kMarker);
    if (marker == std::string::npos) continue;
    std::istringstream ids(line.substr(marker + kMarker.size()));
    for (std::string id; ids >> id;) {
      if (id.back() == ',') id.pop_back();
      result.emplace(number, id);
    }
  }
  return result;
}

LineRules found(const std::string& path, const std::string& text) {
  MemoryFiles files;
  files.put(path, text);
  SourceStore sources(files);
  Inputs inputs;
  inputs.sources = &sources;
  const Resolver resolve = [&](const EngineStart& start) {
    return resolve_deployment(start, inputs);
  };
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in;
  Io io{out, err, in, sources};
  const Collection collection = collect({path}, resolve, io);
  const RuleChoice choice = choose_rules({}, all_rules());
  LineRules result;
  for (const Diagnostic& finding : check(collection, choice.rules, false)) {
    const uint32_t line =
        finding.where ? finding.where.file->position(finding.where.range.begin).line : 0;
    result.emplace(line, std::string(finding.rule));
  }
  return result;
}

std::string to_text(const LineRules& findings) {
  std::string text;
  for (const auto& [line, id] : findings) text += "line " + std::to_string(line) + ": " + id + "\n";
  return text.empty() ? "none\n" : text;
}

}  // namespace kvbudget::test
