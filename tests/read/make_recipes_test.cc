#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string read(const char* name, const std::string& text) {
  return named_summaries_of(SourceFile(name, text));
}

}  // namespace

TEST_CASE("recipes of a Makefile start engines with the variables of the file") {
  CHECK(read("Makefile",
             "MODEL ?= org/m  # the model\n"
             "export VLLM_A := 1\n"
             "LEN = $(shell cat len)\n"
             "TP := 1\nTP := 2\n"
             ".PHONY: serve\n"
             "serve: build\n"
             "\t@echo $(MODEL)\n"
             "\t-vllm serve $(MODEL) --max-model-len $(LEN) \\\n"
             "\t  --seed $$SEED -tp ${TP} \\\n"
             "\t  $(ARGS)\n") ==
        "makefile recipe serve: org/m --max-model-len ?${LEN} --seed ?$SEED -tp ?${TP} ?${ARGS}\n");
  CHECK(
      read("deploy.mk", "run:\n\tdocker run vllm/vllm-openai:v0.19.0 --model $(M)\nM = org/m\n") ==
      "makefile recipe run: --model org/m; image vllm/vllm-openai:v0.19.0\n");
  CHECK(read("Makefile", "run:\n    vllm serve m\n").empty());
}

TEST_CASE("recipes of a justfile start engines with their parameters") {
  CHECK(read("justfile",
             "model := \"org/m\"\nlen := env('LEN', '1')\n\n"
             "serve port=\"8000\" tp:\n"
             "    @vllm serve {{model}} --port {{ port }} -tp {{tp}} \\\n"
             "      --max-model-len {{len}} --seed $SEED\n") ==
        "justfile recipe serve: org/m --port 8000 -tp ?${tp} --max-model-len ?${len} --seed "
        "?$SEED\n");
}
