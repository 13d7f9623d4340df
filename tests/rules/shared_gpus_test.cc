// Engines of one Compose file on one GPU: whose budgets add up, and who races for it.

#include <string>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;

namespace {

struct Service {
  std::string name;
  std::string share;
  std::string more;  ///< keys of the service, in flow style
};

std::string compose(const Service& a, const Service& b) {
  std::string text = "# options: --gpu L4 --engine vllm@0.19.0\nservices:\n";
  for (const Service& s : {a, b}) {
    text += "  " + s.name + ":\n    image: vllm/vllm-openai:v0.19.0\n    command: [--model=Qwen/" +
            "Qwen2.5-1.5B-Instruct, --max-model-len=4096, --gpu-memory-utilization=" + s.share +
            "]\n" + s.more;
  }
  return text;
}

std::string gpus(const std::string& device) {
  return "    deploy: {resources: {reservations: {devices: [{driver: nvidia, " + device +
         ", capabilities: [gpu]}]}}}\n";
}

bool reports(const std::string& text, const std::string& rule) {
  for (const auto& [line, id] : test::found("compose.yaml", text)) {
    if (id == rule) return true;
  }
  return false;
}

const std::string kVisible0 = "    environment: {CUDA_VISIBLE_DEVICES: \"0\"}\n";
const std::string kVisible1 = "    environment: {CUDA_VISIBLE_DEVICES: \"1\"}\n";
const std::string kWaits = "    depends_on: {a: {condition: service_healthy}}\n";

}  // namespace

TEST_CASE("budgets on one GPU are added up however the file says which GPU it is") {
  const std::string both[][2] = {
      {kVisible0, kVisible0},
      {gpus("device_ids: [\"3\"]"), gpus("device_ids: [\"3\"]")},
      {gpus("count: 1"), gpus("count: 1")},
      {gpus("count: all"), gpus("count: all")},
      {gpus("device_ids: [\"1\", \"0\"]") + kVisible1, gpus("device_ids: [\"0\"]")},
      {"    environment: [NVIDIA_VISIBLE_DEVICES=2]\n", gpus("device_ids: [\"2\"]")},
  };
  for (const auto& [first, second] : both) {
    INFO(first << second);
    CHECK(reports(compose({"a", "0.6", first}, {"b", "0.5", second}), "KVB105"));
    CHECK_FALSE(reports(compose({"a", "0.6", first}, {"b", "0.35", second}), "KVB105"));
    CHECK(reports(compose({"a", "0.6", first}, {"b", "0.35", second}), "KVB115"));
  }
}

TEST_CASE("engines that may never meet on a GPU are not added up") {
  const std::string apart[][2] = {
      {kVisible0, kVisible1},
      {gpus("device_ids: [\"0\"]"), gpus("device_ids: [\"1\"]")},
      {gpus("device_ids: [\"0\"]") + kVisible0, gpus("device_ids: [\"1\"]") + kVisible0},
      {kVisible0 + "    profiles: [small]\n", kVisible0 + "    profiles: [large]\n"},
      {kVisible0, kVisible0 + "    profiles: [large]\n"},
      {kVisible0, "    environment: {CUDA_VISIBLE_DEVICES: \"$DEVICE\"}\n"},
      {kVisible0, kVisible0 + "    deploy: {replicas: 0}\n"},
      {gpus("device_ids: [\"${GPU}\"]"), gpus("device_ids: [\"${GPU}\"]")},
      {"", ""},
  };
  for (const auto& [first, second] : apart) {
    INFO(first << second);
    const std::string text = compose({"a", "0.9", first}, {"b", "0.9", second});
    CHECK_FALSE(reports(text, "KVB105"));
    CHECK_FALSE(reports(text, "KVB115"));
  }
}

TEST_CASE("a health condition or caches of fixed size end the race, and not the sum") {
  CHECK_FALSE(
      reports(compose({"a", "0.6", kVisible0}, {"b", "0.35", kVisible0 + kWaits}), "KVB115"));
  CHECK(reports(compose({"a", "0.6", kVisible0}, {"b", "0.5", kVisible0 + kWaits}), "KVB105"));
  const std::string fixed = "0.5, --kv-cache-memory-bytes=2G";
  CHECK_FALSE(reports(compose({"a", fixed, kVisible0}, {"b", fixed, kVisible0}), "KVB115"));
  CHECK(reports(compose({"a", "0.5", kVisible0}, {"b", fixed, kVisible0}), "KVB115"));
}
