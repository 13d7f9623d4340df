#include "lint/release_flags.h"

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("a text that names a flag of later or earlier releases is recognised") {
  struct Case {
    const char* text;
    Version version;
    bool names;
  };
  const Case cases[] = {
      {"add --max-cudagraph-capture-size=8", {0, 11, 0}, true},
      {"add --max-cudagraph-capture-size=8", {0, 11, 1}, false},
      {"add --swap-space=4", {0, 19, 0}, true},
      {"\n        - --kv-cache-memory-bytes=1", {0, 9, 0}, true},
      {"--max-model-len=4096 and --language-model-only", {0, 16, 0}, true},
      {"--max-model-len=4096 and --language-model-only", {0, 17, 0}, false},
      {"or --no-enable-prefix-caching", {0, 19, 0}, false},
      {"or --no-enforce-eager", {0, 6, 6}, true},
      {"or --no-enforce-eager", {0, 19, 0}, false},
      {"pass --gpu L4 or --engine vllm@0.19.0", {0, 6, 6}, false},
      {"the cache -- all of it", {0, 6, 6}, false},
      {"", {0, 6, 6}, false},
  };
  for (const Case& c : cases) {
    INFO(c.text << " in " << c.version.str());
    CHECK(names_flag_of_other_release(c.text, c.version) == c.names);
  }
}
