#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string read(const std::string& yaml) { return named_summaries_of(SourceFile("ci.yml", yaml)); }

}  // namespace

TEST_CASE("steps of a workflow start engines") {
  const std::string yaml = R"(
on: [push]
env: {MODEL: org/m}
jobs:
  smoke:
    runs-on: [self-hosted, gpu]
    env: {LENGTH: "4096"}
    steps:
      - uses: actions/checkout@v4
      - name: start
        env: {VLLM_A: "1"}
        run: |
          pip install vllm
          vllm serve "$MODEL" --max-model-len $LENGTH --seed ${{ inputs.seed }} &
      - run: docker run --gpus all vllm/vllm-openai:v0.19.0 --model org/n --port 1 --dtype half
)";
  CHECK(read(yaml) ==
        "github-actions job/smoke: org/m --max-model-len 4096 --seed ?${{ inputs.seed }}\n"
        "github-actions job/smoke #2: --model org/n --port 1 --dtype half; image "
        "vllm/vllm-openai:v0.19.0\n");
}

TEST_CASE("jobs of GitLab start engines") {
  CHECK(read("variables: {TP: '2'}\nserve:\n  image: vllm/vllm-openai:v0.19.0\n"
             "  before_script: [export M=org/m]\n"
             "  script:\n    - vllm serve $M -tp $TP\n    - sleep 1\n") ==
        "gitlab-ci job/serve: org/m -tp 2\n");
}

TEST_CASE("tasks of Ansible start engines") {
  CHECK(read("- hosts: gpus\n  tasks:\n    - name: serve\n      ansible.builtin.shell: |\n"
             "        nohup vllm serve {{ model }} --max-model-len 4096 &\n"
             "      environment: {VLLM_A: '1'}\n"
             "    - block:\n        - command: {cmd: vllm serve org/m}\n") ==
        "ansible serve: ?{{ model }} --max-model-len 4096\nansible task: org/m\n");
}

TEST_CASE("other lists and mappings are no pipelines") {
  CHECK(read("- name: vllm\n  value: vllm serve m\n").empty());
  CHECK(read("job: {script: 1, vllm: vllm serve m}\n").empty());
}
