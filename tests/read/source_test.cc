#include "lint/read/source.h"

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("a position counts lines from LF, CR LF and CR, and columns in code points") {
  const SourceFile file("f", "ab\r\ncd\re\xC3\xA9x\n");
  CHECK(file.position(0) == Position{1, 1});
  CHECK(file.position(4) == Position{2, 1});
  CHECK(file.position(7) == Position{3, 1});
  CHECK(file.position(10) == Position{3, 3});
  CHECK(file.position(999) == Position{4, 1});
  CHECK(file.line_text(1) == "ab");
  CHECK(file.line_text(3) == "e\xC3\xA9x");
  CHECK(file.line_text(9).empty());
}

TEST_CASE("text cut from text still names the bytes of the file") {
  const SourceFile file("f", "args: --max-model-len 8192");
  const SourceText all(file, {6, 26});
  const SourceText value = all.substr(16);
  CHECK(value.str() == "8192");
  CHECK(value.location().range == ByteRange{22, 26});
  SourceText joined = SourceText::empty_at(&file, {0, 0});
  joined.append(all.substr(0, 2));
  joined.append_synthetic("x", 3);
  CHECK(joined.str() == "--x");
  // Put together from parts: it begins where its first part stands.
  CHECK(joined.location().range == ByteRange{6, 8});
}
