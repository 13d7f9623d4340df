// Lints a text or a file the way the program does, for tests.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kvbudget::test {

/// (line, rule id)
using LineRules = std::set<std::pair<uint32_t, std::string>>;

/// The findings that a file announces: `# expect: KVB103` or `# expect: KVB103, KVB106` at the end
/// of a line.
LineRules expected(std::string_view text);

/// The findings of all rules on a file with this name and text.
LineRules found(const std::string& path, const std::string& text);

/// One per line, for failure messages.
std::string to_text(const LineRules& findings);

}  // namespace kvbudget::test
