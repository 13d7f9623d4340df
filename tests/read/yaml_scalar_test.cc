#include "lint/read/document.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

/// Value of key `a` in the first document.
SourceText value_of(const SourceFile& file) {
  const Document document = parse_yaml(file);
  REQUIRE(document.roots.size() == 1);
  const Node* value = document.roots[0]->find("a");
  REQUIRE(value != nullptr);
  return value->text;
}

struct Case {
  const char* yaml;
  std::string value;
};

}  // namespace

TEST_CASE("a scalar reads as PyYAML reads it") {
  const Case cases[] = {
      {"a: plain", "plain"},
      {"a: plain   # comment", "plain"},
      {"a: has#no comment", "has#no comment"},
      {"a: http://host:80/x", "http://host:80/x"},
      {"a: 60\n", "60"},
      {"a: one\n  two\n\n  three\nb: x", "one two\nthree"},
      {"a:\n  on the next line\n  and one more\nb: x", "on the next line and one more"},
      {"a: x \\\n   --flag \"y\"", "x \\ --flag \"y\""},
      {"a: 'it''s'", "it's"},
      {"a: 'two\n  lines'", "two lines"},
      {"a: ' kept '", " kept "},
      {"a: \"tab\\there\\n\"", "tab\there\n"},
      {"a: \"\\x41\\u00e9\\U0001F600\\/\"", "A\xC3\xA9\xF0\x9F\x98\x80/"},
      {"a: \"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80"},
      {"a: \"joined \\\n   lines\"", "joined lines"},
      {"a: \"folded\n   lines\n\n   more\"", "folded lines\nmore"},
      {"a: |\n  one\n    two\n\n  three\n", "one\n  two\n\nthree\n"},
      {"a: |-\n  one\n\n", "one"},
      {"a: |+\n  one\n\n", "one\n\n"},
      {"a: |\n  no newline at the end", "no newline at the end"},
      {"a: |2\n    indented\n", "  indented\n"},
      {"a: |\n\n  after a blank line\n", "\nafter a blank line\n"},
      {"a: >\n  one\n  two\n\n  three\n    code\n  four\n", "one two\nthree\n  code\nfour\n"},
      {"a: >-\n  --model x\n  --port 1\n", "--model x --port 1"},
      {"a: | # why\n  text # not a comment\n", "text # not a comment\n"},
      {"a: |-\n  {{ not }} [a] \"flow\nb: x", "{{ not }} [a] \"flow"},
      {"a: one\r\n  two\r\nb: x\r\n", "one two"},
      {"a: |\r\n  one\r\n  two\r\nb: x", "one\ntwo\n"},
      {"{a: L4:1, b: c}", "L4:1"},
      {"{\"a\":\"b\"}", "b"},
      {"{a: two\n  lines, b: c}", "two lines"},
      {"\xEF\xBB\xBF"
       "a: behind a byte order mark",
       "behind a byte order mark"},
      {"a: \xC3\xA9t\xC3\xA9", "\xC3\xA9t\xC3\xA9"},
  };
  for (const Case& item : cases) {
    INFO(item.yaml);
    const SourceFile file("f.yaml", item.yaml);
    CHECK(value_of(file).str() == item.value);
  }
}

TEST_CASE("every byte of a scalar names the byte it was written as") {
  const Case cases[] = {
      {"a: plain words", "plain words"}, {"a: 'single'", "single"},
      {"a: \"double\"", "double"},       {"x: 1\na: |\n  first\n  second\n", "first\nsecond\n"},
      {"a: one\n  two", "one two"},      {"a: >\n   one\n   two\n", "one two\n"},
  };
  for (const Case& item : cases) {
    INFO(item.yaml);
    const SourceFile file("f.yaml", item.yaml);
    const SourceText value = value_of(file);
    REQUIRE(value.str() == item.value);
    for (size_t i = 0; i < value.size(); ++i) {
      const char written = file.bytes()[value.offset(i)];
      // A folded line break reads as a blank and stands where the break is.
      CHECK((written == value[i] || (written == '\n' && value[i] == ' ')));
      if (i > 0) CHECK(value.offset(i) > value.offset(i - 1));
    }
  }
}

TEST_CASE("the place of a node leaves quotes out and holds brackets") {
  const SourceFile file("f.yaml", "a: 'text'\nb: [1, 2]\nc:\n  d: 1\n  e: two\nn:\nm: ~\n");
  const Document document = parse_yaml(file);
  REQUIRE(document.roots.size() == 1);
  const auto text = [&](std::string_view key) {
    const ByteRange range = document.roots[0]->find(key)->where.range;
    return std::string(file.bytes().substr(range.begin, range.end - range.begin));
  };
  CHECK(text("a") == "text");
  CHECK(text("b") == "[1, 2]");
  CHECK(text("c") == "d: 1\n  e: two");
  CHECK(text("n") == "n");  // nothing is written: the key
  CHECK(text("m") == "~");
  CHECK(document.roots[0]->find("n")->kind == Node::Kind::kNull);
  CHECK(document.roots[0]->find("m")->kind == Node::Kind::kNull);
}

TEST_CASE("an escape that YAML does not know is reported and kept") {
  const SourceFile file("f.yaml", "a: \"\\d+\"");
  const Document document = parse_yaml(file);
  REQUIRE(document.errors.size() == 1);
  CHECK(document.errors[0].where.range.begin == 4);
  CHECK(document.roots[0]->find("a")->scalar() == "\\d+");
}

TEST_CASE("YAML inside a scalar is read with places in the file") {
  const SourceFile file("f.yaml", "data: |\n  model: org/name\n  \"max-model-len\": 8192\n");
  const Document outer = parse_yaml(file);
  const Document inner = parse_yaml(outer.roots[0]->find("data")->text);
  REQUIRE(inner.roots.size() == 1);
  const Node* length = inner.roots[0]->find("max-model-len");
  REQUIRE(length != nullptr);
  const ByteRange range = length->where.range;
  CHECK(file.bytes().substr(range.begin, range.end - range.begin) == "8192");
}
