#include "lint/read/document.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

/// Compact notation of a tree: scalars as they are, `~` for null.
std::string show(const Node& node) {
  std::string result;
  if (node.is_scalar()) return node.text.str();
  if (node.is_sequence()) {
    for (const NodePtr& item : node.items) result += (result.empty() ? "" : ",") + show(*item);
    return "[" + result + "]";
  }
  if (node.is_mapping()) {
    for (const Entry& entry : node.entries) {
      result += (result.empty() ? "" : ",") + entry.key.str() + ":" + show(*entry.value);
    }
    return "{" + result + "}";
  }
  return "~";
}

std::string show(const Document& document) {
  std::string result;
  for (const NodePtr& root : document.roots) result += (result.empty() ? "" : " ") + show(*root);
  return result;
}

struct Case {
  std::string yaml;
  std::string tree;
};

struct Broken {
  std::string yaml;
  Position where;
  std::string message;  ///< a part of it
  std::string tree;     ///< what is read all the same
};

std::string repeat(std::string_view text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("collections nest as PyYAML nests them") {
  const Case cases[] = {
      {"", ""},
      {"# only a comment\n", ""},
      {"---\n---\n", ""},
      {"a: 1\nb:\n  c: 2\n", "{a:1,b:{c:2}}"},
      {"a:\n- 1\n- 2\nb: 3", "{a:[1,2],b:3}"},
      {"a:\n  - x: 1\n    y: 2\n  - x: 3\n", "{a:[{x:1,y:2},{x:3}]}"},
      {"- - 1\n  - 2\n- 3", "[[1,2],3]"},
      {"- \n- a\n-\n- \n- b", "[~,a,~,~,b]"},
      {"- -\n  - a\n", "[[~,a]]"},
      {"a:\nb: ~\nc: null\nd: ''", "{a:~,b:~,c:~,d:}"},
      {"{L4:1, A100:1}", "{L4:1:~,A100:1:~}"},
      {"{a: [1, {b: 2}], c}", "{a:[1,{b:2}],c:~}"},
      {"[a: 1, b]", "[{a:1},b]"},
      {"a: [\n  1, # one\n  2\n]\n", "{a:[1,2]}"},
      {"? a\n: b\n", "{a:b}"},
      {"a: &x 1\nb: *x\n", "{a:1,b:1}"},
      {"a: &x\n  k: v\nb: *x\n", "{a:{k:v},b:{k:v}}"},
      {"&x a: |\n  text\nb: 1\n", "{a:text\n,b:1}"},
      {"!Tag\na: !!str 1\nb: [!x 2, 3]", "{a:1,b:[2,3]}"},
      {"x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n", "{x:{a:1,b:2},y:{b:3,a:1}}"},
      {"x: &x {a: 1}\nz: &z {a: 2, c: 3}\ny: {<<: [*x, *z]}\n",
       "{x:{a:1},z:{a:2,c:3},y:{a:1,c:3}}"},
      {"'<<': 1\n", "{<<:1}"},
      {"%YAML 1.2\n---\na: 1\n...\n%TAG ! x\n---\nb: 2\n", "{a:1} {b:2}"},
      {"--- a: 1\n--- [x]\n--- |\n  text\n", "{a:1} [x] text\n"},
      {"a: 1\r\nb:\r\n  - 2\r\n", "{a:1,b:[2]}"},
      {"a: b: c", ""},
      {"key with spaces: 1\n\"quoted\": 2\n'single' : 3\n",
       "{key with spaces:1,quoted:2,single:3}"},
      {"a:\t1\nb: 2\t\n", "{a:1,b:2}"},
      {"a: |\n\tnot indented by spaces\n", ""},
  };
  for (const Case& item : cases) {
    INFO(item.yaml);
    const SourceFile file("f.yaml", item.yaml);
    CHECK(show(parse_yaml(file)) == item.tree);
  }
}

TEST_CASE("what is not YAML is reported where it stands and the siblings are read") {
  const Broken cases[] = {
      {"a: 1\n\tb: 2\n", {2, 1}, "tab", ""},
      {"a: [1, 2\n", {1, 4}, "never closed", ""},
      {"a: [1, 2}\n", {1, 9}, "closed by", ""},
      {"a: 'x\n", {1, 4}, "no closing quote", ""},
      {"a: 1\na: 2\n", {2, 1}, "duplicate key 'a', first in line 1", "{a:2}"},
      {"a: *nowhere\nb: 1\n", {1, 4}, "no anchor '&nowhere'", "{a:~,b:1}"},
      {"a: &x [*x]\n", {1, 8}, "no anchor", "{a:[~]}"},
      {"a: b: c\n", {1, 5}, "second ': '", ""},
      {"a: b\n  c: d\n", {2, 4}, "several lines", ""},
      {"a:\n    b: 1\n  c: 2\n", {3, 3}, "check the indentation", ""},
      {"a: 1\nb\nc: 2\n", {2, 1}, "a key without ': '", ""},
      {"a: \"x\" y\n", {1, 8}, "check the indentation", ""},
      {"a: %x\n", {1, 4}, "cannot start with '%'", ""},
      {"a: - b\n", {1, 4}, "list cannot start", ""},
      {"a: |x\n", {1, 4}, "cannot start with '|'", ""},
      {"[a,,b]", {1, 4}, "no value in front of this comma", ""},
      {"? [a]\n: b\n", {1, 3}, "cannot be a key", "{}"},
      {"<<: 1\n", {1, 1}, "needs a mapping", "{}"},
      {"ok: 1\n---\na: [\n---\nb: 2\n", {3, 4}, "never closed", "{ok:1} {b:2}"},
      {"a: \x01\n", {1, 4}, "control character", "{a:\x01}"},
      {"a: \xFF\n", {1, 4}, "UTF-8", "{a:\xFF}"},
      {std::string("a: 1\0", 5), {1, 5}, "NUL", ""},
      {"\xFF\xFE"
       "a",
       {1, 1},
       "UTF-16",
       ""},
      {repeat("[", 300), {1, 201}, "too deep", ""},
      {repeat("- ", 300), {1, 401}, "too deep", ""},
      {repeat("-\n", 300), {202, 1}, "empty items", ""},
  };
  for (const Broken& item : cases) {
    INFO(item.yaml);
    const SourceFile file("f.yaml", item.yaml);
    const Document document = parse_yaml(file);
    REQUIRE(document.errors.size() == 1);
    INFO(document.errors[0].message);
    REQUIRE(document.errors[0].where);
    CHECK(file.position(document.errors[0].where.range.begin) == item.where);
    CHECK(document.errors[0].message.find(item.message) != std::string::npos);
    CHECK(show(document) == item.tree);
  }
}

TEST_CASE("a JSON file must be strict JSON") {
  const SourceFile good("f.json", "{\n\t\"a\": [1, \"\\u00e9\"]\n}");
  CHECK(show(parse_yaml(good)) == "{a:[1,\xC3\xA9]}");
  CHECK(parse_yaml(good).errors.empty());
  for (const char* text : {"{\"a\": 1,}", "{a: 1}", "{\"a\": 1} // why", "{\"a\": 'b'}", ""}) {
    INFO(text);
    const SourceFile bad("f.json", text);
    const Document document = parse_yaml(bad);
    REQUIRE(document.errors.size() == 1);
    CHECK(document.errors[0].message.find("JSON") != std::string::npos);
  }
}

TEST_CASE("aliases and merge keys cannot multiply without end") {
  std::string laughs = "a0: &a0 [x, x]\n";
  std::string merges = "m0: &m0 {k0: 1}\n";
  for (int i = 1; i < 3000; ++i) {
    const std::string n = std::to_string(i);
    const std::string p = std::to_string(i - 1);
    laughs += "a" + n + ": &a" + n + " [*a" + p + ", *a" + p + "]\n";
    merges += "m" + n + ": &m" + n + "\n  <<: *m" + p + "\n  k" + n + ": 1\n";
  }
  const SourceFile shared("f.yaml", laughs);
  CHECK(parse_yaml(shared).roots.size() == 1);
  const SourceFile merged("f.yaml", merges);
  const Document document = parse_yaml(merged);
  REQUIRE(document.errors.size() == 1);
  CHECK(document.errors[0].message.find("multiply") != std::string::npos);
}
