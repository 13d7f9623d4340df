#include "rules/propose.h"

#include <algorithm>
#include <utility>

#include "lint/read/text.h"

namespace kvbudget {

void propose_value(const Deployment& d, std::string_view setting, const std::string& value,
                   Diagnostic& finding) {
  const Setting* stated = d.settings.find(setting);
  if (stated == nullptr || !stated->where) return;
  const ByteRange& range = stated->where.range;
  const std::string_view there =
      stated->where.file->bytes().substr(range.begin, range.end - range.begin);
  // A chart or an operator may derive the value from something else that stands there.
  if (there.find(stated->value) == std::string_view::npos) return;
  Fix fix;
  fix.description = "set " + std::string(setting) + " to " + value;
  fix.edits.push_back({stated->where, value});
  finding.fix = std::move(fix);
}

void propose_argument(const Deployment& d, const std::string& argument, Diagnostic& finding) {
  if (d.start.argv.empty()) return;
  const Location last = d.start.argv.back().text.location();
  if (!last || last.range.begin == 0) return;
  const std::string_view bytes = last.file->bytes();
  const uint32_t line = last.file->line_start(last.file->position(last.range.begin).line);
  const char before = bytes[last.range.begin - 1];
  const bool quoted = before == '"' || before == '\'';
  const std::string_view indent = bytes.substr(line, last.range.begin - line - (quoted ? 1 : 0));
  Fix fix;
  fix.description = "add " + argument;
  if (trimmed(indent) == "-") {
    const size_t end = std::min(bytes.find('\n', last.range.end), bytes.size());
    const auto at = static_cast<uint32_t>(end);
    fix.edits.push_back({{last.file, {at, at}}, "\n" + std::string(indent) + argument});
  } else if (quoted && last.range.end < bytes.size() && bytes[last.range.end] == before) {
    const uint32_t at = last.range.end + 1;
    fix.edits.push_back({{last.file, {at, at}}, std::string(", ") + before + argument + before});
  } else {
    return;
  }
  finding.fix = std::move(fix);
}

void suggest_value(const Deployment& d, std::string_view setting, const std::string& value,
                   Diagnostic& finding) {
  if (d.settings.has(setting)) return propose_value(d, setting, value, finding);
  finding.notes.push_back({"add --" + std::string(setting) + "=" + value, {}});
}

}  // namespace kvbudget
