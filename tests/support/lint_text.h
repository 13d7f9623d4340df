// Lints a text or a file the way the program does, for tests.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lint/diagnostic.h"

namespace kvbudget::test {

/// (line, rule id)
using LineRules = std::set<std::pair<uint32_t, std::string>>;

/// The findings that a file announces: `# expect: KVB103` or `# expect: KVB103, KVB106` at the end
/// of a line.
LineRules expected(std::string_view text);

/// The findings of all rules on a text, as if it stood in a file of that name, with the options of
/// its `# options:` line.
LineRules found(const std::string& path, const std::string& text);
/// The same with other files (paths and texts) on the disk.
LineRules found(const std::string& path, const std::string& text,
                const std::map<std::string, std::string>& others);

/// A text with all that was found in it.
struct Linted {
  std::shared_ptr<const void> files;  ///< keeps alive what findings point into
  std::vector<Diagnostic> findings;
};
Linted lint_text(const std::string& path, const std::string& text);

/// The findings in the file itself, read from disk with the options of its `# options:` line. The
/// shell script that starts the engine with a config file is read together with it.
LineRules found_on_disk(const std::string& path);

/// One per line, for failure messages.
std::string to_text(const LineRules& findings);

}  // namespace kvbudget::test
