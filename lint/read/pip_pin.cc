#include "lint/read/pip_pin.h"

#include <string_view>

#include "lint/read/shell_reader.h"

namespace kvbudget {
namespace {

constexpr std::string_view kName = "vllm";
constexpr std::string_view kVersionChars = "0123456789abcdefghijklmnopqrstuvwxyz.+";

bool is_part_of_name(char c) { return is_name_char(c) || c == '-' || c == '.' || c == '/'; }

/// Comments end with their line.
bool in_comment(std::string_view text, size_t at) {
  const size_t line = text.rfind('\n', at) == std::string_view::npos ? 0 : text.rfind('\n', at) + 1;
  const size_t first = text.find_first_not_of(" \t", line);
  return first < at && text[first] == '#';
}

}  // namespace

std::optional<SourceText> pinned_vllm(const SourceText& script) {
  const std::string_view text = script.view();
  std::optional<SourceText> pin;
  for (size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
    if ((at > 0 && is_part_of_name(text[at - 1])) || in_comment(text, at)) continue;
    size_t begin = at + kName.size();
    if (begin < text.size() && text[begin] == '[') begin = text.find(']', begin);
    if (begin < text.size() && text[begin] == ']') ++begin;
    if (begin >= text.size() || text.substr(begin, 2) != "==") continue;
    begin += 2;
    const size_t end = std::min(text.find_first_not_of(kVersionChars, begin), text.size());
    SourceText version = script.substr(begin, end - begin);
    if (!version.empty()) pin = std::move(version);
  }
  return pin;
}

}  // namespace kvbudget
