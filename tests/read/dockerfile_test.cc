#include "tests/read/starts.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::vector<EngineStart> starts_of(const std::string& text, const std::string& path) {
  static std::vector<std::unique_ptr<SourceFile>> files;
  files.push_back(std::make_unique<SourceFile>(path, text));
  std::vector<EngineStart> starts = read_file(*files.back()).starts;
  for (const EngineStart& start : starts) CHECK(misplaced_word(start) == "");
  return starts;
}

struct Case {
  const char* text;
  const char* words;
};

}  // namespace

TEST_CASE("a Dockerfile starts what its ENTRYPOINT and CMD say") {
  const Case cases[] = {
      {"FROM vllm/vllm-openai:v0.19.0\nCMD [\"--model\", \"org/name\"]\n", "--model org/name"},
      {"FROM vllm/vllm-openai:v0.19.0\nCMD [ \\\n  \"org/name\", \\\n  # why\n  \"--port\", \"80\" "
       "\\\n]\n",
       "org/name --port 80"},
      {"FROM python:3.12\nENTRYPOINT [\"vllm\", \"serve\"]\nCMD [\"org/name\", \"--port=80\"]\n",
       "org/name --port=80"},
      {"FROM python:3.12\nENV MODEL=org/name LEN=\"8192\"\nCMD vllm serve $MODEL --max-model-len "
       "${LEN}\n",
       "org/name --max-model-len 8192"},
      // Arguments of the build are gone when the container runs.
      {"FROM python:3.12\nARG MODEL=org/name\nCMD exec vllm serve ${MODEL}\n", "?${MODEL}"},
      {"FROM python:3.12\nARG MODEL=org/name\nENV MODEL=$MODEL\nCMD vllm serve $MODEL\n",
       "org/name"},
      {"FROM python:3.12\nARG MODEL\nCMD vllm serve ${MODEL}\n", "?${MODEL}"},
      {"FROM python:3.12 AS base\nENTRYPOINT [\"vllm\", \"serve\"]\nFROM base\nCMD "
       "[\"org/name\"]\n",
       "org/name"},
      {"FROM python:3.12\nRUN <<EOF\nCMD vllm serve wrong\nEOF\nCMD vllm serve org/name\n",
       "org/name"},
      {"FROM vllm/vllm-openai:v0.19.0\nENTRYPOINT vllm serve org/name\nCMD [\"--port=1\"]\n",
       "org/name"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const std::vector<EngineStart> starts = starts_of(c.text, "Dockerfile.vllm");
    REQUIRE(starts.size() == 1);
    CHECK(words_of(starts[0]) == c.words);
    CHECK(starts[0].kind == "dockerfile");
  }
}

TEST_CASE("a Dockerfile gives image, version argument and environment") {
  const auto starts = starts_of(
      "ARG TAG=v0.19.0\nFROM vllm/vllm-openai:${TAG}\nENV VLLM_USE_V1 1\nCMD [\"org/name\"]\n",
      "images/Containerfile");
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].image->str() == "vllm/vllm-openai:v0.19.0");
  CHECK(starts[0].image_known);
  REQUIRE(starts[0].env.size() == 1);
  CHECK(starts[0].env[0].value.view() == "1");
}

TEST_CASE("a Dockerfile that starts something else has no engine") {
  CHECK(starts_of("FROM vllm/vllm-openai:v0.19.0\nENTRYPOINT []\nCMD [\"python3\", \"h.py\"]\n",
                  "Dockerfile")
            .empty());
  CHECK(starts_of("FROM python\nRUN pip install vllm\n", "Dockerfile").empty());
}

TEST_CASE("a systemd unit starts what ExecStart says") {
  const Case cases[] = {
      {"[Service]\nExecStart=/opt/vllm/bin/vllm serve org/name --port 80\n", "org/name --port 80"},
      {"[Service]\nEnvironment=MODEL=org/name \"LEN=8192\"\nExecStart=-/usr/bin/vllm serve "
       "${MODEL} \\\n"
       "  # a comment\n  --max-model-len $LEN\n",
       "org/name --max-model-len 8192"},
      {"[Service]\nExecStart=/bin/old vllm serve x\nExecStart=\nExecStart=vllm serve org/name\n",
       "org/name"},
      {"[Container]\nImage=vllm/vllm-openai:v0.19.0\nExec=--model org/name --port=80\n",
       "--model org/name --port=80"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const std::vector<EngineStart> starts = starts_of(c.text, "vllm.service");
    REQUIRE(starts.size() == 1);
    CHECK(words_of(starts[0]) == c.words);
    CHECK(starts[0].kind == "systemd");
  }
}

TEST_CASE("what systemd or a template fills in is not known") {
  const auto starts =
      starts_of("[Service]\nExecStart={{ venv }}/bin/vllm serve {{ model }} --port {{ port }}\n",
                "vllm.service.j2");
  REQUIRE(starts.size() == 1);
  CHECK(words_of(starts[0]) == "?{{ model }} --port ?{{ port }}");
}
