#include "lint/read/flag_words.h"

#include <array>

#include "lint/read/document.h"
#include "tests/read/starts.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

constexpr std::array<KeyFlag, 4> kTable = {{{"length", "max-model-len"},
                                            {"eager", "enforce-eager", KeyForm::kSwitch},
                                            {"prefix", "enable-prefix-caching", KeyForm::kPair},
                                            {"extra", "", KeyForm::kWords}}};

struct Case {
  const char* yaml;
  const char* words;
};

}  // namespace

TEST_CASE("keys become flags") {
  const Case cases[] = {
      {"length: 4096", "--max-model-len 4096"},
      {"length: '{{ .x }}'", "--max-model-len ?{{ .x }}"},
      {"length: ''", ""},
      {"length:", ""},
      {"length: [1]", ""},
      {"other: 1", ""},
      {"eager: true\nprefix: true", "--enforce-eager --enable-prefix-caching"},
      {"eager: false\nprefix: 'False'", "--no-enable-prefix-caching"},
      {"eager: '{{ .x }}'", "?--enforce-eager"},
      {"extra: [--port, '1', '{{ .x }}']", "--port 1 ?{{ .x }}"},
      {"extra: --a 'b c'", "--a b c"},
  };
  for (const Case& item : cases) {
    INFO(item.yaml);
    const SourceFile file("f.yaml", item.yaml);
    const Document document = parse_yaml(file);
    EngineStart start;
    start.file = &file;
    add_flags(document.roots.at(0).get(), kTable, start.argv);
    CHECK(words_of(start) == item.words);
    CHECK(misplaced_word(start) == "");
  }
}

TEST_CASE("a flag stands at its key, a switch at the value that decides it") {
  const SourceFile file("f.yaml", "length: 4096\neager: true\n");
  const Document document = parse_yaml(file);
  std::vector<Word> argv;
  add_flags(document.roots.at(0).get(), kTable, argv);
  REQUIRE(argv.size() == 3);
  const auto place = [&](size_t i) {
    const ByteRange range = argv[i].text.location().range;
    return std::string(file.bytes().substr(range.begin, range.end - range.begin));
  };
  CHECK(place(0) == "length");
  CHECK(place(1) == "4096");
  CHECK(place(2) == "true");
}
