// Each row is a claim about vLLM's parser in one release; the claims were checked by running the
// released parsers (0.5.5 to 0.33.0).
#include "lint/engine/settings.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using namespace kvbudget::testing;

namespace {

struct Row {
  const char* version;
  const char* words;
  const char* expected;
};

void check_rows(const std::vector<Row>& rows, bool serve = true) {
  for (const Row& row : rows) {
    INFO("vLLM " << row.version << ": " << row.words);
    const Settings settings =
        read_settings(start_of(row.words, serve), parse_version(row.version).value(), nullptr);
    CHECK(understood(settings) == row.expected);
  }
}

}  // namespace

TEST_CASE("names take underscores, abbreviations and either form of value") {
  check_rows({
      {"0.19.0", "M --max-model-len 4096", "model=M max-model-len=4096"},
      {"0.19.0", "M --max-model-len=4096", "model=M max-model-len=4096"},
      {"0.19.0", "M --max_model_len 4096", "model=M max-model-len=4096"},
      {"0.5.1", "M --max_model_len=4096", "model=M max-model-len=4096"},
      {"0.5.0", "M --max_model_len 4096", "model=M ?max-model-len"},
      {"0.19.0", "M --tensor-parallel 2", "model=M tensor-parallel-size=2"},
      {"0.19.0", "M --gpu-memory-util=0.8", "model=M gpu-memory-utilization=0.8"},
      {"0.19.0", "M --max-num 4", "model=M ??max-num"},
      {"0.19.0", "M --quantization fp8", "model=M quantization=fp8"},
      {"0.19.0", "M --served_model_name=a_b", "model=M served-model-name=a_b"},
      {"0.19.0", "M --max-model-len -1", "model=M max-model-len=-1"},
      {"0.19.0", "M --max-model-len", "model=M !--max-model-len"},
      {"0.19.0", "M --max-model-len --port 1", "model=M port=1 !--max-model-len"},
      {"0.19.0", "M --max-model-len~4096", "model=M !--max-model-len 4096"},
      {"0.19.0", "M --chat-template --~x", "model=M chat-template=-- x"},
  });
}

TEST_CASE("short names and aliases stand for their flag") {
  check_rows({
      {"0.19.0", "M -tp 2 -pp=4", "model=M pipeline-parallel-size=4 tensor-parallel-size=2"},
      {"0.19.0", "M -tp2", "model=M ?tp2"},
      {"0.19.0", "M -q awq", "model=M quantization=awq"},
      {"0.19.0", "M -qawq", "model=M quantization=awq"},
      {"0.33.0", "M -n4 -r0", "model=M nnodes=4 node-rank=0"},
      {"0.33.0", "M -sc {\"method\":\"mtp\"}", "model=M speculative-config={\"method\":\"mtp\"}"},
      {"0.9.2", "M -dp 2", "model=M data-parallel-size=2"},
      {"0.8.5", "M -t 2", "model=M tensor-parallel-size=2"},
  });
}

TEST_CASE("the last of a repeated flag wins, except for lists that add up") {
  check_rows({
      {"0.19.0", "M --port 1 --port 2", "model=M port=2"},
      {"0.19.0", "M --served-model-name a --served-model-name b", "model=M served-model-name=b"},
      {"0.19.0", "M --served-model-name a b", "model=M served-model-name=a b"},
      {"0.19.0", "M --middleware a --middleware b", "model=M middleware=a b"},
      {"0.19.0", "M --enforce-eager --no-enforce-eager", "model=M enforce-eager=false"},
      {"0.19.0", "M --no-enforce-eager --enforce-eager", "model=M enforce-eager=true"},
  });
}

TEST_CASE("switches take no value and their negative forms depend on the release") {
  check_rows({
      {"0.19.0", "M --enforce-eager=true", "model=M !--enforce-eager=true"},
      {"0.19.0", "M --enable-prefix-caching False", "model=M enable-prefix-caching=true !False"},
      {"0.6.4", "M --no-enable-prefix-caching", "model=M ?no-enable-prefix-caching"},
      {"0.6.5", "M --no-enable-prefix-caching", "model=M enable-prefix-caching=false"},
      {"0.8.4", "M --no-enable-chunked-prefill", "model=M ?no-enable-chunked-prefill"},
      {"0.8.5", "M --no-enable-chunked-prefill", "model=M enable-chunked-prefill=false"},
      {"0.8.4", "M --enable-chunked-prefill=False", "model=M enable-chunked-prefill=false"},
      {"0.8.4", "M --enable-chunked-prefill false", "model=M enable-chunked-prefill=false"},
      {"0.8.4", "M --enable-chunked-prefill", "model=M enable-chunked-prefill=true"},
      {"0.8.5", "M --enable-chunked-prefill=False", "model=M !--enable-chunked-prefill=False"},
      {"0.19.0", "M --no-headless", "model=M ?no-headless"},
  });
}

TEST_CASE("two-way switches answer to their opposite name from 0.33") {
  check_rows({
      {"0.32.0", "M --disable-prefix-caching", "model=M ?disable-prefix-caching"},
      {"0.33.0", "M --disable-prefix-caching", "model=M enable-prefix-caching=false"},
      {"0.33.0", "M --no-enable-prefix-caching", "model=M enable-prefix-caching=false"},
      {"0.33.0", "M --enable-hybrid-kv-cache-manager",
       "model=M disable-hybrid-kv-cache-manager=false"},
      {"0.16.0", "M --disable-log-requests", "model=M disable-log-requests=true"},
      {"0.19.0", "M --disable-log-requests", "model=M ?disable-log-requests"},
      {"0.33.0", "M --disable-log-requests", "model=M enable-log-requests=false"},
  });
}

TEST_CASE("flags that a release does not know are unknown and take their value along") {
  check_rows({
      {"0.17.1", "M --swap-space 4", "model=M swap-space=4"},
      {"0.18.0", "M --swap-space 4", "model=M ?swap-space"},
      {"0.18.0", "--swap-space 4 M", "model=M ?swap-space"},
      {"0.19.0", "--disable-log-requests M", "model=M ?disable-log-requests"},
      {"0.19.0", "--made-up value M", "model=M ?made-up"},
      {"0.19.0", "M --made_up --port 1", "model=M port=1 ?made-up"},
      {"0.10.1", "M --kv-cache-memory-bytes 1", "model=M ?kv-cache-memory-bytes"},
      {"0.10.2", "M --kv-cache-memory-bytes 1", "model=M kv-cache-memory-bytes=1"},
      {"0.19.0", "M --device cuda", "model=M ?device"},  // removed, not ambiguous
      {"0.19.0", "M extra", "model=M !extra"},
  });
}

TEST_CASE("dotted keys build the JSON of their flag and win over it") {
  check_rows({
      {"0.8.5", "M --compilation-config.level 3", "model=M ?compilation-config.level"},
      {"0.19.0", "M --compilation-config.cudagraph_mode NONE",
       "model=M compilation-config={\"cudagraph_mode\":\"NONE\"} "
       "compilation-config.cudagraph_mode=NONE"},
      {"0.19.0", "M --compilation_config.max_cudagraph_capture_size=64",
       "model=M compilation-config={\"max_cudagraph_capture_size\":64} "
       "compilation-config.max_cudagraph_capture_size=64"},
      {"0.19.0", "M --hf-overrides.a.b true --hf-overrides {\"c\":1}",
       "model=M hf-overrides={\"a\":{\"b\":true}} hf-overrides.a.b=true"},
      {"0.19.0", "M -cc.mode 3",
       "model=M compilation-config={\"mode\":3} compilation-config.mode=3"},
      {"0.19.0", "M --kv-transfer-config.x 8g",
       "model=M kv-transfer-config={\"x\":\"8g\"} kv-transfer-config.x=8g"},
      {"0.20.0", "M --kv-transfer-config.x 8g",
       "model=M kv-transfer-config={\"x\":8000000000} kv-transfer-config.x=8g"},
      {"0.19.0", "M --compilation-config.pass+ a,b",
       "model=M compilation-config={\"pass\":[\"a\",\"b\"]} compilation-config.pass=a,b"},
  });
}

TEST_CASE("flag -O means what the release says") {
  check_rows({
      {"0.8.5", "M -O3", "model=M compilation-config=3"},
      {"0.8.5", "M -O 3", "model=M compilation-config=3"},
      {"0.10.2", "M -O3", "model=M compilation-config={\"level\":3} compilation-config.level=3"},
      {"0.11.1", "M -O=2", "model=M compilation-config={\"mode\":2} compilation-config.mode=2"},
      {"0.12.0", "M -O0", "model=M optimization-level=0"},
      {"0.19.0", "M -O 0", "model=M optimization-level=0"},
      {"0.12.0", "M -O.mode=3",
       "model=M compilation-config={\"mode\":3} compilation-config.mode=3"},
      {"0.13.0", "M -O.mode=3", "model=M !-O.mode=3"},
  });
}

TEST_CASE("the model is the first free word") {
  check_rows({
      {"0.19.0", "--port 1 M --enforce-eager", "model=M enforce-eager=true port=1"},
      {"0.8.2", "--model M", "model=M !--model"},
      {"0.10.2", "--model M", "model=M !--model"},
      {"0.10.2", "--model=M", "model=M"},
      {"0.11.1", "--model M", "model=M"},
      {"0.11.1", "N --model M", "model=N !N"},
      {"0.10.2", "--served-model-name a M", "served-model-name=a M"},
      {"0.19.0", "--served-model-name a M", "served-model-name=a M !--served-model-name"},
      {"0.19.0", "--port 1", "port=1"},
  });
  check_rows(
      {{"0.19.0", "--model M --port 1", "model=M port=1"}, {"0.19.0", "M --port 1", "port=1 !M"}},
      false);
}

TEST_CASE("words that only run time knows stay unknown") {
  check_rows({
      {"0.19.0", "M --max-model-len $LEN", "model=M max-model-len=<unknown>"},
      {"0.19.0", "M --max-model-len=$LEN --port 1", "model=M max-model-len=<unknown> port=1"},
      {"0.19.0", "$MODEL --port 1", "model=<unknown> port=1"},
      {"0.19.0", "org/$MODEL", "model=<unknown>"},
      {"0.19.0", "M --port 1 $EXTRA_ARGS", "model=M port=1 *"},
      {"0.19.0", "M $X --port 1", "model=M port=1 *"},
      {"0.19.0", "M --$X --port 1", "model=M port=1 *"},
      {"0.19.0", "M --hf-overrides.a $X",
       "model=M hf-overrides=<unknown> hf-overrides.a=<unknown>"},
      {"0.19.0", "M --served-model-name a $X --port 1",
       "model=M port=1 served-model-name=<unknown>"},
  });
  const Settings settings =
      read_settings(start_of("$VLLM_ARGS --port 1"), Version{0, 19, 0}, nullptr);
  CHECK_FALSE(settings.model);
  CHECK_FALSE(settings.model_known);
}

TEST_CASE("the text None unsets a nullable flag only") {
  check_rows({
      {"0.19.0", "M --quantization awq --quantization None", "model=M"},
      {"0.19.0", "M --max-model-len None", "model=M max-model-len=None"},
  });
}

TEST_CASE("a value knows the place it was written at") {
  const SourceFile file("run.sh", "M --max-model-len=4096 --enforce-eager");
  EngineStart start;
  start.argv = {{SourceText(file, {0, 1}), true},
                {SourceText(file, {2, 22}), true},
                {SourceText(file, {23, 38}), true}};
  const Settings settings = read_settings(start, Version{0, 19, 0}, nullptr);
  const Setting* const length = settings.find("max-model-len");
  REQUIRE(length);
  CHECK(length->where.range == ByteRange{18, 22});
  CHECK(length->key.range == ByteRange{2, 22});
  CHECK(settings.find("enforce-eager")->where.range == ByteRange{23, 38});
  CHECK(settings.model->where.range == ByteRange{0, 1});
}

TEST_CASE("numbers are read by the type that the flag has in the release") {
  struct Case {
    const char* version;
    const char* flag;
    const char* text;
    std::optional<int64_t> expected;
  };
  const std::vector<Case> cases = {
      {"0.19.0", "max-model-len", "32k", 32000},
      {"0.19.0", "max-model-len", "32K", 32768},
      {"0.19.0", "max-model-len", "1.5k", 1500},
      {"0.19.0", "max-model-len", "8.5K", {}},
      {"0.8.3", "max-model-len", "32k", {}},
      {"0.8.4", "max-model-len", "32k", 32000},
      {"0.19.0", "max-model-len", "8_192", 8192},
      {"0.19.0", "max-model-len", "8,192", {}},
      {"0.19.0", "max-model-len", "1e4", {}},
      {"0.19.0", "max-model-len", "8.0", {}},
      {"0.19.0", "max-model-len", "auto", -1},
      {"0.19.0", "max-model-len", "AUTO", -1},
      {"0.13.0", "max-model-len", "auto", {}},
      {"0.13.0", "max-model-len", "-1", -1},
      {"0.12.0", "max-model-len", "1t", {}},
      {"0.13.0", "max-model-len", "1t", 1000000000000},
      {"0.19.0", "max-num-seqs", "1k", {}},
      {"0.19.0", "max-num-seqs", " 7 ", 7},
      {"0.9.0", "max-num-batched-tokens", "8k", {}},
      {"0.9.1", "max-num-batched-tokens", "8k", 8000},
      {"0.19.0", "block-size", "1k", {}},
      {"0.19.0", "max-model-len", "k", {}},
      {"0.19.0", "max-model-len", ".5k", {}},
      {"0.19.0", "max-model-len", "1__0", {}},
      {"0.19.0", "kv-cache-memory-bytes", "24G", 25769803776},
      {"0.19.0", "kv-cache-memory-bytes", "99999999T", {}},
  };
  for (const Case& c : cases) {
    INFO(c.version << " " << c.flag << " " << c.text);
    EngineStart start = start_of("M");
    start.argv.push_back({SourceText(std::string("--") + c.flag + "=" + c.text), true});
    const Settings settings = read_settings(start, parse_version(c.version).value(), nullptr);
    CHECK(settings.integer(c.flag) == c.expected);
  }
}
