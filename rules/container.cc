#include "rules/container.h"

#include <algorithm>
#include <array>

#include "lint/memory/bytes.h"
#include "lint/memory/weights.h"

namespace kvbudget {

const Surroundings* whole_container(const Deployment& d) {
  const Surroundings* around = d.start.around.get();
  return around != nullptr && around->whole ? around : nullptr;
}

bool is_service(const Deployment& d) {
  if (d.start.kind == "kubernetes") {
    return d.start.around != nullptr && d.start.around->controlled;
  }
  constexpr std::array<std::string_view, 13> kKinds = {"compose", "kserve", "helm-values", "aibrix",
                                                       "dynamo",  "kaito",  "kthena",      "kubeai",
                                                       "llmaz",   "ome",    "ray"};
  return std::find(kKinds.begin(), kKinds.end(), d.start.kind) != kKinds.end();
}

std::optional<ImageName> image_of(const Deployment& d) {
  if (!d.start.image || !d.start.image_known || d.start.image->empty()) return std::nullopt;
  ImageName name;
  std::string_view image = d.start.image->view();
  const size_t digest = image.find('@');
  name.pinned = digest != std::string_view::npos;
  image = image.substr(0, digest);
  const size_t slash = image.rfind('/');
  const size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  name.repository = image.substr(0, colon);
  if (colon != std::string_view::npos) name.tag = image.substr(colon + 1);
  return name;
}

bool is_official_cuda_image(const Deployment& d) {
  const auto image = image_of(d);
  if (!image) return false;
  const std::string_view name =
      image->repository.substr(image->repository.rfind('/') + 1);  // npos + 1 is 0
  constexpr std::array<std::string_view, 5> kOthers = {"rocm", "cpu", "xpu", "tpu", "hpu"};
  return name == "vllm-openai" &&
         std::none_of(kOthers.begin(), kOthers.end(), [&](std::string_view other) {
           return image->tag.find(other) != std::string_view::npos;
         });
}

bool uses_gpus(const Deployment& d) { return !d.start.gpu.resource.empty(); }

uint64_t ranks_in_container(const Deployment& d) {
  const uint64_t ranks = d.local_ranks();
  const uint32_t nodes = d.start.nodes ? std::max(d.start.nodes->value, 1U) : 1;
  const uint64_t given = d.start.gpu.count ? d.start.gpu.count->value : 0;
  if (nodes == 1) return given == 0 ? ranks : std::min(ranks, given);
  return given == 0 ? 0 : std::min(given, ranks);
}

const Mount* mount_of(const Surroundings& around, std::string_view path) {
  const Mount* deepest = nullptr;
  for (const Mount& mount : around.mounts) {
    std::string_view at = mount.path;
    while (at.size() > 1 && at.ends_with('/')) at.remove_suffix(1);
    const bool inside =
        path.starts_with(at) && (path.size() == at.size() || at == "/" || path[at.size()] == '/');
    if (inside && (deepest == nullptr || deepest->path.size() < mount.path.size())) {
      deepest = &mount;
    }
  }
  return deepest;
}

std::optional<EnvText> env_text(const Deployment& d, std::string_view name) {
  const EnvVar* variable = d.env(name);
  if (variable == nullptr) return std::nullopt;
  return EnvText{variable->value.str(), variable->known};
}

bool is_downloaded(const Deployment& d) {
  const std::string_view model = d.model;
  const bool path = model.empty() || model.front() == '/' || model.front() == '.' ||
                    model.find("://") != std::string_view::npos ||
                    std::count(model.begin(), model.end(), '/') != 1;
  if (path || !d.settings.model_known) return false;
  constexpr std::array<std::string_view, 4> kStreamed = {"runai_streamer", "runai_streamer_sharded",
                                                         "tensorizer", "dummy"};
  const std::string format = d.settings.text("load-format");
  if (std::find(kStreamed.begin(), kStreamed.end(), format) != kStreamed.end()) return false;
  return d.env("VLLM_USE_MODELSCOPE") == nullptr;
}

// huggingface_hub 1.0, constants.py: HF_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface,
// ~/.cache/huggingface. TRANSFORMERS_CACHE counts no more.
std::string download_folder(const Deployment& d) {
  if (d.settings.has("download-dir")) return d.settings.text("download-dir");
  struct Place {
    std::string_view variable;
    std::string_view below;
  };
  constexpr std::array<Place, 5> kPlaces = {{{"HF_HUB_CACHE", ""},
                                             {"HUGGINGFACE_HUB_CACHE", ""},
                                             {"HF_HOME", "/hub"},
                                             {"XDG_CACHE_HOME", "/huggingface/hub"},
                                             {"HOME", "/.cache/huggingface/hub"}}};
  for (const Place& place : kPlaces) {
    const auto value = env_text(d, place.variable);
    if (!value) continue;
    return value->known ? value->text + std::string(place.below) : "";
  }
  const Surroundings* around = d.start.around.get();
  const bool root = around == nullptr || (!around->run_as_non_root && !around->run_as_user) ||
                    (around->run_as_user && around->run_as_user->value == 0);
  return root ? "/root/.cache/huggingface/hub" : "";
}

uint64_t checkpoint_bytes(const Deployment& d) {
  if (!d.shape) return 0;
  if (d.shape->checkpoint_bytes) return *d.shape->checkpoint_bytes;
  return memory::stored_bytes(d.shape->weights, d.shape->dtype);
}

HostNeed host_memory_need(uint64_t ranks) {
  return {3 * memory::kGiB + ranks * 3 * memory::kGiB / 2,
          9 * memory::kGiB / 2 + ranks * 5 * memory::kGiB / 2};
}

}  // namespace kvbudget
