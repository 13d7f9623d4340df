#include "tests/read/starts.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* yaml;
  const char* words;
  const char* gpus;
};

EngineStart only_start(const SourceFile& file) {
  FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(misplaced_word(contents.starts[0]) == "");
  return contents.starts[0];
}

}  // namespace

TEST_CASE("a SkyPilot task gives the engine that it runs") {
  const Case cases[] = {
      {"resources: {accelerators: L4}\nrun: vllm serve m", "m", "L4 x1"},
      {"resources: {accelerators: 'H100:8'}\nrun: vllm serve m -tp $SKYPILOT_NUM_GPUS_PER_NODE",
       "m -tp 8", "H100 x8"},
      {"resources: {accelerators: {A100: 4}}\nrun: vllm serve m", "m", "A100-40GB x4"},
      {"resources: {accelerators: {A100-80GB: 4}}\nrun: vllm serve m", "m", "A100-80GB x4"},
      {"resources: {accelerators: {L4:2, A10G:2}}\nrun: vllm serve m", "m", "? x2"},
      {"resources: {accelerators: {L4, A10G}}\nrun: vllm serve m -tp $SKYPILOT_NUM_GPUS_PER_NODE",
       "m -tp 1", "? x1"},
      {"resources: {accelerators: [L4:1, H100:2]}\nrun: vllm serve m", "m", "? x?"},
      {"resources: {any_of: [{accelerators: L4}, {accelerators: A10}]}\nrun: vllm serve m", "m",
       "? x1"},
      {"resources: {instance_type: p4d.24xlarge}\nrun: vllm serve m", "m", "p4d.24xlarge x?"},
      {"resources: {cpus: 4}\nservice: {replicas: 2}\nrun: vllm serve m", "m", "? x?, 2 replicas"},
      {"resources: {accelerators: L4}\nservice: {replica_policy: {min_replicas: 1}}\n"
       "run: vllm serve m",
       "m", "L4 x1, 1 replicas"},
      {"resources: {accelerators: L4}\nnum_nodes: 2\nrun: vllm serve m", "m", "L4 x1"},
      {"resources: {accelerators: L4}\nnum_nodes: 2\nrun: |\n  ray start --head\n  vllm serve m",
       "m", "L4 x1 on 2 nodes"},
      {"resources: {accelerators: L4:4}\nrun: docker run --gpus all vllm/vllm-openai m", "m",
       "L4 x4"},
      {"resources: {accelerators: L4:4}\nrun: docker run --gpus 2 vllm/vllm-openai m", "m",
       "L4 x2"},
      {"resources: {accelerators: L4}\nenvs: {M: org/name}\nsecrets: {K: null}\n"
       "run: vllm serve $M --api-key $K",
       "org/name --api-key ?$K", "L4 x1"},
  };
  for (const Case& item : cases) {
    INFO(item.yaml);
    const SourceFile file("task.yaml", item.yaml);
    const EngineStart start = only_start(file);
    CHECK(start.kind == "skypilot");
    CHECK(words_of(start) == item.words);
    CHECK(gpus_of(start) == item.gpus);
  }
}

TEST_CASE("the release of a task is what its set-up pins") {
  struct Pin {
    const char* setup;
    const char* version;
  };
  const Pin cases[] = {
      {"pip install vllm==0.10.2", "0.10.2"},
      {"uv pip install \"vllm[flashinfer]==0.9.1.post1\" x", "0.9.1.post1"},
      {"pip install vllm==0.8.0\n  pip install vllm==0.8.1", "0.8.1"},
      {"pip install vllm>=0.8.0", "-"},
      {"# pip install vllm==0.8.0", "-"},
      {"pip install my-vllm==1.0", "-"},
      {"pip install vllm-flash-attn==2.6.2", "-"},
  };
  for (const Pin& item : cases) {
    INFO(item.setup);
    const SourceFile file("task.yaml", "resources: {accelerators: L4}\nsetup: |\n  " +
                                           std::string(item.setup) + "\nrun: vllm serve m\n");
    const EngineStart start = only_start(file);
    CHECK((start.version ? start.version->str() : "-") == item.version);
  }
}

TEST_CASE("a batch script's card is the one that it asks Slurm for") {
  const std::pair<const char*, const char*> cases[] = {
      {"#SBATCH --gres=gpu:h100:8", "h100"},
      {"#SBATCH --nodes=2 --gres gpu:l40s:4 --time=1:00:00", "l40s"},
      {"#SBATCH --gpus-per-node=a100-80gb:4", "a100-80gb"},
      {"#SBATCH -G rtx_4090:2", "rtx_4090"},
      {"#SBATCH --gres=gpu:h100:8,nvme:1\n#SBATCH --gpus=h100:8", "h100"},
      {"#SBATCH --gres=gpu:h100:8\n#SBATCH hetjob\n#SBATCH --gres=gpu:a100:8", "?"},
      {"#SBATCH --gres=gpu:8", "?"},
      {"#SBATCH --gpus=8", "?"},
      {"#SBATCH --gres=gpu", "?"},
      {"# SBATCH --gres=gpu:h100:8", "?"},
  };
  for (const auto& [lines, card] : cases) {
    const SourceFile file("job.sh", std::string("#!/bin/bash\n") + lines + "\nvllm serve m\n");
    const EngineStart start = only_start(file);
    INFO(lines);
    CHECK((start.gpu.name ? start.gpu.name->value : "?") == card);
  }
}

TEST_CASE("the image of a task loses its scheme") {
  const SourceFile file("task.yaml",
                        "resources: {image_id: 'docker:vllm/vllm-openai:v0.9.0'}\n"
                        "run: vllm serve m\n");
  CHECK(only_start(file).image->str() == "vllm/vllm-openai:v0.9.0");
}

TEST_CASE("a dstack configuration gives the engine that it runs") {
  const Case cases[] = {
      {"resources: {gpu: 'MI300X:8'}\ncommands: [vllm serve m -tp $DSTACK_GPUS_NUM]", "m -tp 8",
       "MI300X x8"},
      {"resources: {gpu: 'A100:80GB:2'}\ncommands: [vllm serve m]", "m", "A100-80GB x2"},
      {"resources: {gpu: 'nvidia:24GB..:1'}\ncommands: [vllm serve m]", "m", "? x1"},
      {"resources: {gpu: 24GB}\ncommands: [vllm serve m]", "m", "? x1"},
      {"resources: {gpu: 'H100:1..8'}\ncommands: [vllm serve m]", "m", "H100 x?"},
      {"resources: {gpu: 'L4,A10:2'}\ncommands: [vllm serve m]", "m", "? x2"},
      {"resources: {gpu: {name: H100, count: 4}}\ncommands: [vllm serve m]", "m", "H100 x4"},
      {"resources: {gpu: {name: [A100], memory: 80GB}}\ncommands: [vllm serve m]", "m",
       "A100-80GB x1"},
      {"env: [M=org/name, TOKEN]\nreplicas: 1..4\nresources: {gpu: L4}\ncommands:\n"
       "  - export X=1\n  - vllm serve $M --api-key $TOKEN --seed $X",
       "org/name --api-key ?$TOKEN --seed 1", "L4 x1, 1 replicas"},
      {"image: vllm/vllm-openai:v0.9.0\nresources: {gpu: L4}", "", "L4 x1"},
  };
  for (const Case& item : cases) {
    INFO(item.yaml);
    const SourceFile file("vllm.dstack.yml", "type: service\n" + std::string(item.yaml));
    const EngineStart start = only_start(file);
    CHECK(start.kind == "dstack");
    CHECK(words_of(start) == item.words);
    CHECK(gpus_of(start) == item.gpus);
  }
}
