#include "lint/engine/image.h"

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("images of vLLM and of builds that follow its numbers give the version") {
  struct Case {
    const char* image;
    Version expected;
  };
  for (const Case& c : {
           Case{"vllm/vllm-openai:v0.19.0", {0, 19, 0}},
           Case{"docker.io/vllm/vllm-openai:v0.20.1-cu129", {0, 20, 1}},
           Case{"vllm/vllm-openai:v0.9.0.1", {0, 9, 0}},
           Case{"vllm/vllm-openai:v0.10.2@sha256:0123456789abcdef", {0, 10, 2}},
           Case{"docker:vllm/vllm-openai:v0.10.2", {0, 10, 2}},
           Case{"docker://vllm/vllm-openai:v0.10.2", {0, 10, 2}},
           Case{"registry.example.com:5000/mirror/vllm/vllm-openai:v0.11.0", {0, 11, 0}},
           Case{"vllm/vllm-openai-rocm:v0.22.1", {0, 22, 1}},
           Case{"vllm/vllm-openai-cpu:v0.23.0", {0, 23, 0}},
           Case{"quay.io/vllm/vllm-cuda:0.13.0_rhai12", {0, 13, 0}},
           Case{"quay.io/rh-aiservices-bu/vllm-openai-ubi9:0.4.2", {0, 4, 2}},
           Case{"public.ecr.aws/q9t5s3a7/vllm-cpu-release-repo:v0.10.0", {0, 10, 0}},
           Case{"public.ecr.aws/deep-learning-containers/vllm:0.9.0-gpu-py312", {0, 9, 0}},
           Case{"763104351884.dkr.ecr.us-east-1.amazonaws.com/vllm:0.11.0-gpu", {0, 11, 0}},
           Case{"intel/vllm:0.21.0-ubuntu24.04", {0, 21, 0}},
           Case{"rocm/vllm:rocm6.4.1_vllm_0.9.1_20250715", {0, 9, 1}},
           Case{"example/ray-2.41.0-py310-cu118-vllm0.7.0:latest", {0, 7, 0}},
       }) {
    INFO(c.image);
    CHECK(image_version(c.image) == c.expected);
  }
}

TEST_CASE("tags that are not a version of vLLM give none") {
  for (const char* image : {
           "",
           "vllm/vllm-openai",
           "vllm/vllm-openai:latest",
           "vllm/vllm-openai:nightly-5e35a6f4f9bbc217c599692157ca985c894373f7",
           "vllm/vllm-openai@sha256:0123456789abcdef",
           "vllm/vllm-openai:glm52-cu129",
           "vllm/vllm-openai:${VERSION}",
           "rocm/vllm-dev:open-mi300-08052025",
           "ghcr.io/llm-d/llm-d-cuda:v0.9.0",
           "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.3.2",
           "nvcr.io/nvidia/vllm:25.09",
           "aibrix/vllm-openai:v0.9.2-cu128-nixl-v0.4.1",
           "lmcache/vllm-openai:v0.3.1",
           "quay.io/ascend/vllm-ascend:v0.13.0rc3-a3",
           "opea/vllm-gaudi:1.22.0",
           "public.ecr.aws/data-on-eks/vllm-ray2.32.0-inf2-llama3:latest",
           "example/vllm:0.3.0",
           "registry:5000/vllm",
       }) {
    INFO(image);
    CHECK_FALSE(image_version(image).has_value());
  }
}

TEST_CASE("builds for CPUs say so in their name or tag") {
  for (const char* image :
       {"vllm/vllm-openai-cpu:v0.19.0", "public.ecr.aws/x/vllm-cpu-release-repo",
        "example.com:5000/vllm:0.19-cpu", "vllm-cpu@sha256:00"}) {
    INFO(image);
    CHECK(runs_on_cpu(image));
  }
  for (const char* image :
       {"vllm/vllm-openai:v0.19.0", "cpu/vllm:0.19", "vllm:0.9.0-gpu-py312", "vllm-cpus", ""}) {
    INFO(image);
    CHECK_FALSE(runs_on_cpu(image));
  }
}
