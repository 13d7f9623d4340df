#include "lint/engine/image.h"

#include <algorithm>
#include <array>
#include <vector>

#include "lint/engine/table.h"

namespace kvbudget {
namespace {

// Projects that build an image of that name under numbers of their own.
constexpr std::array<std::string_view, 6> kOtherProjects = {
    "aibrix", "dynamo", "llm-d", "lmcache", "production-stack", "vllm-ascend"};

// Folders of registries whose image `vllm` is numbered like vLLM (AWS Deep Learning Containers are
// found by their registry instead).
constexpr std::array<std::string_view, 5> kFollowers = {"intel", "rocm", "substratusai", "vllm",
                                                        "vllm-project"};

// vLLM's own registry of release builds.
constexpr std::string_view kReleaseRegistry = "q9t5s3a7";

bool is_of_other_project(std::string_view repository) {
  return std::any_of(kOtherProjects.begin(), kOtherProjects.end(), [&](std::string_view name) {
    return repository.find(name) != std::string_view::npos;
  });
}

bool is_numbered_like_vllm(std::string_view repository) {
  const std::vector<std::string_view> parts = split(repository, '/');
  if (parts.empty()) return false;
  const std::string_view base = parts.back();
  const std::string_view folder = parts.size() > 1 ? parts[parts.size() - 2] : std::string_view();
  if (base.starts_with("vllm-openai")) return true;
  if (folder == "vllm" || folder == kReleaseRegistry) return base.starts_with("vllm");
  if (base != "vllm") return false;
  const bool amazon = parts.front().ends_with("amazonaws.com") || parts.front() == "public.ecr.aws";
  return amazon || std::find(kFollowers.begin(), kFollowers.end(), folder) != kFollowers.end();
}

// Every release of vLLM is 0.x; an image of year 25 or of version 1.22 is somebody else's.
std::optional<Version> vllm_version(std::string_view text) {
  const std::optional<Version> version = parse_version(text);
  return version && version->major == 0 && version->minor > 0 ? version : std::nullopt;
}

// "…vllm_0.9.1_20250715", "…-vllm0.7.0".
std::optional<Version> spelled_out(std::string_view text) {
  constexpr std::string_view kName = "vllm";
  for (size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    if (rest.starts_with('_') || rest.starts_with('-')) rest.remove_prefix(1);
    rest = rest.substr(0, rest.find_first_of(":@/"));
    if (const std::optional<Version> version = vllm_version(rest)) return version;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Version> image_version(std::string_view image) {
  if (const size_t scheme = image.find("://"); scheme != std::string_view::npos) {
    image.remove_prefix(scheme + 3);
  }
  if (image.starts_with("docker:")) image.remove_prefix(7);  // SkyPilot and dstack
  image = image.substr(0, image.find('@'));
  const size_t slash = image.rfind('/');
  const size_t colon = image.find(':', slash == std::string_view::npos ? 0 : slash);
  const std::string_view repository = image.substr(0, colon);
  if (colon != std::string_view::npos && !is_of_other_project(repository) &&
      is_numbered_like_vllm(repository)) {
    if (const auto version = vllm_version(image.substr(colon + 1))) return version;
  }
  return spelled_out(image);
}

bool runs_on_cpu(std::string_view image) {
  image = image.substr(0, image.find('@'));
  std::string_view name = image.substr(image.rfind('/') + 1);
  while (!name.empty()) {
    const size_t end = std::min(name.find_first_of(":-_."), name.size());
    if (name.substr(0, end) == "cpu") return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

}  // namespace kvbudget
