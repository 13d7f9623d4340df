#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* name;
  const char* yaml;
  const char* starts;
};

}  // namespace

TEST_CASE("values of unknown charts give what they spell") {
  const Case cases[] = {
      {"all at the root",
       "image: {repository: vllm/vllm-openai, tag: v0.9.0}\nmodel: org/m\nmaxModelLen: 4096\n"
       "dtype: half\nreplicaCount: 2\nresources: {limits: {nvidia.com/gpu: 1}}\n",
       "org/m --max-model-len 4096 --dtype half; image vllm/vllm-openai:v0.9.0; gpu 1 "
       "nvidia.com/gpu; replicas 2"},
      {"settings in groups",
       "image: {registry: docker.io, repository: vllm/vllm-openai}\n"
       "model: {name: org/m, quantization: ''}\nserver: {gpu_memory_utilization: 0.9, "
       "enforceEager: true, trustRemoteCode: false}\nservice: {port: 80}\n",
       "org/m --gpu-memory-utilization 0.9 --enforce-eager; image docker.io/vllm/vllm-openai"},
      {"one service of many",
       "redis: {image: redis}\nvllm:\n  enabled: true\n  image: vllm/vllm-openai\n  model: org/m\n"
       "  tensorParallelSize: 2\n  resources: {limits: {nvidia.com/gpu: 2}}\n"
       "other: {model: org/n, image: tei}\n",
       "org/m --tensor-parallel-size 2; image vllm/vllm-openai; gpu 2 nvidia.com/gpu"},
      {"switched off", "vllm: {enabled: false, image: vllm/vllm-openai, model: org/m}\n", ""},
      {"upper case and a list of arguments",
       "vllm:\n  LLM_MODEL_ID: org/m\n  extraCmdArgs: [--max-model-len, '4096', --block-size, "
       "'128']\n",
       "org/m --max-model-len 4096 --block-size 128"},
      {"arguments as text",
       "llm: {image: 'vllm/vllm-openai:v0.9.0', args: '--model org/m --max-model-len 4096'}\n",
       "--model org/m --max-model-len 4096; image vllm/vllm-openai:v0.9.0"},
      {"arguments as a mapping",
       "vllm: {model: org/m, args: {max-model-len: 4096, enforce-eager: true, seed: 1}}\n",
       "org/m --max-model-len 4096 --enforce-eager --seed 1"},
      {"a whole command",
       "image: {repository: vllm/vllm-openai, tag: latest, command: [vllm, serve, /data/, "
       "--dtype, half]}\nresources: {limits: {nvidia.com/gpu: 1}}\n",
       "/data/ --dtype half; image vllm/vllm-openai:latest; gpu 1 nvidia.com/gpu"},
      {"containers of a controller",
       "controllers:\n  main:\n    containers:\n      app:\n        image: {repository: "
       "vllm/vllm-openai, tag: v0.9.0}\n        args: [--model, org/m]\n        env: {VLLM_USE_V1: "
       "'1'}\n        resources: {limits: {amd.com/gpu: 1}}\n",
       "--model org/m; image vllm/vllm-openai:v0.9.0; gpu 1 amd.com/gpu"},
      {"several models and one image",
       "image: vllm/vllm-openai\nnodeSelector: {nvidia.com/gpu.product: L4}\nmodels:\n"
       "- {huggingfaceId: org/m, gpuRequestCount: 1}\n- {huggingfaceId: org/n, maxModelLen: 1}\n",
       "org/m; image vllm/vllm-openai; gpu 1 L4 nvidia.com/gpu\norg/n --max-model-len 1; image "
       "vllm/vllm-openai; gpu L4"},
      {"the model beside the component",
       "model: {huggingfaceName: org/m, dtype: auto}\ndeployment: {image: {repository: "
       "vllm/vllm-openai, tag: v1}, replicaCount: 1, maxModelLen: 8192}\nresources: {limits: {gpu: "
       "2}}\n",
       "org/m --dtype auto --max-model-len 8192; image vllm/vllm-openai:v1; gpu 2 nvidia.com/gpu; "
       "replicas 1"},
      {"an overlay of arguments",
       "app:\n  resources: {limits: {nvidia.com/gpu: 1}}\n  decode: {extraArgs: [--max-model-len, "
       "'1']}\n  prefill: {extraArgs: [--block-size, '2', --dtype, half]}\n",
       "?the chart's template --block-size 2 --dtype half; gpu 1 nvidia.com/gpu"},
      {"arguments of a template are no words of a command",
       "vllm: {image: vllm/vllm-openai, model: org/m, maxModelLen: 4096, "
       "default-chat-template-kwargs: '{\"a\": true}'}\n",
       "org/m --max-model-len 4096; image vllm/vllm-openai"},
      {"a model that only the template knows",
       "image: {repository: vllm/vllm-openai, tag: v1}\nvllm: {maxModelLen: 1, "
       "gpuMemoryUtilization: "
       "0.9}\n",
       "?the chart's template --max-model-len 1 --gpu-memory-utilization 0.9; image "
       "vllm/vllm-openai:v1"},
      {"settings far from the image",
       "inference: {server: {image: {repository: vllm/vllm-openai, tag: v1}, replicas: 2}}\n"
       "modelParameters: {modelId: org/m, maxModelLen: 8192, maxNumSeqs: 4, numGpus: 1}\n",
       "org/m --max-model-len 8192 --max-num-seqs 4; image vllm/vllm-openai:v1; gpu 1 "
       "nvidia.com/gpu; replicas 2"},
      {"a service by name",
       "llmService: {image: vllm/vllm-openai, modelName: org/m, maxModelLen: 1}\nother: {image: x, "
       "modelName: org/n}\n",
       "org/m --max-model-len 1; image vllm/vllm-openai"},
      {"what Helm gives to all charts",
       "global: {image: {repository: vllm/vllm-openai, tag: v1}}\nmodels:\n- {hfModelId: org/m}\n- "
       "{hfModelId: org/n, gpu: 4}\n",
       "org/m; image vllm/vllm-openai:v1\norg/n; image vllm/vllm-openai:v1; gpu 4 nvidia.com/gpu"},
      {"siblings do not lend their GPUs",
       "image: vllm/vllm-openai\ninstances:\n  a: {model: org/m, gpu: {count: 2, type: L4}}\n  b: "
       "{model: org/n}\n",
       "org/m; image vllm/vllm-openai; gpu 2 L4 nvidia.com/gpu\norg/n; image vllm/vllm-openai"},
      {"a pod's node selector",
       "controllers:\n  a:\n    pod: {nodeSelector: {nvidia.com/gpu.product: L4}}\n    "
       "containers:\n "
       "     app: {image: vllm/vllm-openai, command: [vllm, serve], args: [org/m]}\n",
       "org/m; image vllm/vllm-openai; gpu L4"},
      {"templates",
       "image: 'vllm/vllm-openai:{{ tag }}'\nmodel: '${model}'\nmaxModelLen: '{{ len }}'\n",
       "?${model} --max-model-len ?{{ len }}; image ?vllm/vllm-openai:{{ tag }}"},
      {"another server's options",
       "llm: {model: org/m, args: [--served-model-name, m, --trust-remote-code, --tp-size, '4'], "
       "replicas: 1}\nb: {image: lmsysorg/sglang, maxModelLen: 1, dtype: half, blockSize: 2}\nc: "
       "{model: org/m, vllm: x, kv-cache-dtype: fp8, block-size: 1, page-size: 2, replicas: 1}\n",
       ""},
      {"variables", "env: {MODEL_ID: org/m, MAX_MODEL_LEN: '1', BLOCK_SIZE: '2', REPLICAS: '1'}\n",
       ""},
      {"a benchmark", "llama: {image: 'vllm/vllm-openai:v1', model: org/m, runner: h100}\n", ""},
      {"tests of a chart", "suite: a\ntests: [{set: {vllm: {model: org/m}}}]\n", ""},
      {"a training run",
       "rollout: {name: vllm, gpu_memory_utilization: 0.5, enforce_eager: true, max_num_seqs: 8}\n",
       ""},
      {"a router", "router: {image: vllm/router, args: [--port, '1']}\n", ""},
      {"an image alone", "image: vllm/vllm-openai\nscript: [make]\n", ""},
      {"another server", "image: lmsysorg/sglang\nmodel: org/m # vllm\n", ""},
  };
  for (const Case& item : cases) {
    INFO(item.name);
    CHECK(summaries_of(SourceFile("values.yaml", item.yaml)) == item.starts);
  }
}

TEST_CASE("a component of a chart stands at its key") {
  const SourceFile file("values.yaml", "a: 1\nvllm:\n  model: org/m\n  maxModelLen: 4096\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(contents.starts[0].name == "vllm");
  CHECK(line_of(contents.starts[0].where) == 2);
  CHECK(position_of(contents.starts[0], "org/m") == "3:10");
  CHECK(position_of(contents.starts[0], "4096") == "4:16");
}

TEST_CASE("a command that values write is the engine's place") {
  for (const char* words :
       {"command: [vllm, serve, org/m]", "args: [--model, org/m, --seed, '1']"}) {
    INFO(words);
    const SourceFile file("values.yaml",
                          "a: 1\napp:\n  image: vllm/vllm-openai\n  " + std::string(words) + "\n");
    const FileContents contents = read_file(file);
    REQUIRE(contents.starts.size() == 1);
    CHECK(line_of(contents.starts[0].where) == 4);
  }
}
