// ASCII text: what configuration languages mean by case and blanks, whatever the locale.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace kvbudget {

inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

inline std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

inline bool is_any_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Without `blanks` at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r") {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// "max_model_len" as vLLM's options spell it: "max-model-len".
inline std::string with_dashes(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

}  // namespace kvbudget
