#include "lint/report/snippet.h"

#include <sstream>

#include "tests/report/sample.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string snippet(const std::string& text, std::string_view needle,
                    std::string_view replacement = "") {
  const SourceFile file("a.yaml", text);
  std::ostringstream out;
  write_snippet(place(file, needle), replacement, palette(false), out);
  return out.str();
}

}  // namespace

TEST_CASE("a caret stands under the place and a line under its range") {
  CHECK(snippet("a: 1\nlen: 8192 # x\n", "8192") == "len: 8192 # x\n     ^~~~\n");
  CHECK(snippet("x", "x") == "x\n^\n");
}

TEST_CASE("a replacement stands below the caret") {
  CHECK(snippet("len: 8192\n", "8192", "4096") == "len: 8192\n     ^~~~\n     4096\n");
}

TEST_CASE("columns are code points, and tabs keep their width") {
  CHECK(snippet("é€𝄞: X\n", "X") == "é€𝄞: X\n     ^\n");
  CHECK(snippet("\ta:\tX\n", "X") == "\ta:\tX\n\t  \t^\n");
}

TEST_CASE("a range over several lines is underlined on its first") {
  CHECK(snippet("a: [1,\n  2]\n", "[1,\n  2]") == "a: [1,\n   ^~~\n");
}

TEST_CASE("nothing is printed where there is no text") {
  CHECK(snippet("\n", "\n").empty());
  std::ostringstream out;
  write_snippet({}, "", palette(false), out);
  CHECK(out.str().empty());
}

TEST_CASE("bytes that a terminal would obey are not shown") {
  CHECK(snippet("a\x1b[2J: X\n", "X") == "a?[2J: X\n       ^\n");
  CHECK(snippet("a\xff: X\n", "X") == "a\xEF\xBF\xBD: X\n    ^\n");
  CHECK(snippet("\xc2\x9b: X\n", "X") == "?: X\n   ^\n");
  CHECK(printable("a\nb\x1b") == "a?b?");
}

TEST_CASE("of a long line, the part around the place is shown") {
  const std::string before(1000, 'a');
  const std::string after(1000, 'b');
  const std::string text = snippet(before + "X" + after, "X");
  CHECK(text.starts_with("…aaa"));
  const size_t line_end = text.find('\n');
  CHECK(text.substr(0, line_end).ends_with("b…"));
  CHECK(text.substr(line_end + 1) == std::string(61, ' ') + "^\n");
  CHECK(text.substr(text.find('X'), 4) == "Xbbb");
  CHECK(text.find('X') == 60 + std::string("…").size());
}

TEST_CASE("a place near either end of a long line is inside what is shown") {
  const std::string line(1000, 'a');
  CHECK(snippet("X" + line, "X").starts_with("Xaaa"));
  const std::string at_end = snippet(line + "X", "X");
  CHECK(at_end.find("aaX\n") != std::string::npos);
  CHECK(at_end.ends_with(" ^\n"));
}

TEST_CASE("a range longer than what is shown of its line ends there") {
  const std::string value(5000, 'v');
  const std::string text = snippet("a: " + value, value);
  const size_t line_end = text.find('\n');
  CHECK(text.size() - line_end - 2 <= 201);
}
