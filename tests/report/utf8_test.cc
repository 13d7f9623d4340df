#include "lint/report/utf8.h"

#include <utility>

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("a UTF-8 sequence is told by its bytes, not by its length alone") {
  const std::pair<const char*, size_t> cases[] = {
      {"a", 1},
      {"\x7F", 1},
      {"ß!", 2},
      {"€", 3},
      {"\U0001F600x", 4},
      {"\x80", 0},              // a continuation alone
      {"\xC3", 0},              // cut off
      {"\xC3\x28", 0},          // continued by something else
      {"\xC0\xAF", 0},          // overlong slash
      {"\xE0\x80\xAF", 0},      // overlong
      {"\xED\xA0\x80", 0},      // surrogate
      {"\xED\x9F\xBF", 3},      // the last before them
      {"\xF0\x80\x80\x80", 0},  // overlong
      {"\xF4\x8F\xBF\xBF", 4},  // U+10FFFF
      {"\xF4\x90\x80\x80", 0},  // above it
      {"\xFF", 0},
      {"", 0},
  };
  for (const auto& [text, bytes] : cases) {
    CAPTURE(text);
    CHECK(utf8_sequence(text) == bytes);
  }
}

TEST_CASE("bytes that are no UTF-8 become U+FFFD, one for one") {
  CHECK(valid_utf8("größe \U0001F600") == "größe \U0001F600");
  CHECK(valid_utf8("a\xFF\xC3(") == "a\xEF\xBF\xBD\xEF\xBF\xBD(");
  CHECK(valid_utf8("") == "");
}

TEST_CASE("a text is shortened at a code point") {
  CHECK(shortened("größe", 5) == "größe");
  CHECK(shortened("größe", 4) == "grö…");
  CHECK(shortened("\U0001F600\U0001F600\U0001F600", 2) == "\U0001F600…");
  CHECK(shortened("", 1) == "");
}
