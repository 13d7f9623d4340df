#include "tests/support/lint_text.h"

#include <sstream>
#include <vector>

#include "lint/check.h"
#include "lint/collect.h"
#include "lint/inputs.h"
#include "lint/resolve_deployment.h"
#include "rules/all_rules.h"
#include "tests/support/memory_files.h"

namespace kvbudget::test {

namespace {

// `# options: --gpu L40S --engine vllm@0.19.0`, for formats that have no place for it.
Options options_in(const std::string& text) {
  Options options;
  constexpr std::string_view kMarker = "# options: ";
  const size_t marker = text.find(kMarker);
  if (marker == std::string::npos) return options;
  std::istringstream words(
      text.substr(marker + kMarker.size(), text.find('\n', marker) - marker - kMarker.size()));
  for (std::string name, value; words >> name >> value;) {
    if (name == "--gpu") options.gpu = value;
    if (name == "--engine") options.engine = value;
    if (name == "--since") options.since = value;
  }
  return options;
}

std::vector<Diagnostic> findings_in(const std::vector<std::string>& paths, const Options& options,
                                    SourceStore& sources) {
  InputsResult inputs = read_inputs(options, sources);
  inputs.inputs->models.hub_cache.clear();
  const Resolver resolve = [&](const EngineStart& start) {
    return resolve_deployment(start, *inputs.inputs);
  };
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in;
  Io io{out, err, in, sources};
  const Collection collection = collect(paths, resolve, io);
  return check(collection, choose_rules({}, all_rules()), false, nullptr);
}

// Findings in the file `shown`, after reading `paths`.
LineRules lint(const std::vector<std::string>& paths, const std::string& shown,
               const Options& options, FileSystem& files) {
  SourceStore sources(files);
  LineRules result;
  for (const Diagnostic& finding : findings_in(paths, options, sources)) {
    if (!finding.where || finding.where.file->path() != shown) continue;
    result.emplace(finding.where.file->position(finding.where.range.begin).line,
                   std::string(finding.rule));
  }
  return result;
}

}  // namespace

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
  return found(path, text, {});
}

LineRules found(const std::string& path, const std::string& text,
                const std::map<std::string, std::string>& others) {
  MemoryFiles files({{path, text}});
  for (const auto& [other, bytes] : others) files.write(other, bytes);
  return lint({path}, path, options_in(text), files);
}

Linted lint_text(const std::string& path, const std::string& text) {
  struct Held {
    explicit Held(MemoryFiles of) : files(std::move(of)), sources(files) {}
    MemoryFiles files;
    SourceStore sources;
  };
  const auto held = std::make_shared<Held>(MemoryFiles({{path, text}}));
  return {held, findings_in({path}, options_in(text), held->sources)};
}

LineRules found_on_disk(const std::string& path) {
  DiskFiles disk;
  constexpr std::string_view kConfig = ".vllm.yaml";
  std::vector<std::string> paths = {path};
  if (path.ends_with(kConfig)) {
    const std::string script = path.substr(0, path.size() - kConfig.size()) + ".sh";
    if (disk.kind(script) == FileKind::kFile) paths = {script};
  }
  const ReadResult text = disk.read(paths.front(), kMaxFileBytes);
  return lint(paths, path, options_in(text.bytes.value_or("")), disk);
}

std::string to_text(const LineRules& findings) {
  std::string text;
  for (const auto& [line, id] : findings) text += "line " + std::to_string(line) + ": " + id + "\n";
  return text.empty() ? "none\n" : text;
}

}  // namespace kvbudget::test
