// After kustomize 5.6, api/internal/builtins (PatchTransformer, ImageTagTransformer,
// ReplicaCountTransformer, ConfigMapGenerator).

#include "lint/read/kustomize_transform.h"

#include <algorithm>
#include <array>

#include "lint/read/json_patch.h"
#include "lint/read/rendered.h"
#include "lint/read/strategic_merge.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 40;
constexpr size_t kMaxOperations = 1000;

/// Kinds whose schema says how lists merge; those of others are replaced.
Lists lists_of(const Node& manifest) {
  static constexpr std::array<std::string_view, 8> kBuiltIn = {
      "Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Service"};
  const std::string_view kind = text_of(&manifest, "kind");
  const bool built_in = std::find(kBuiltIn.begin(), kBuiltIn.end(), kind) != kBuiltIn.end();
  return built_in ? Lists::kMergeNamed : Lists::kReplace;
}

std::string_view name_of(const Node& manifest) {
  return text_of(manifest.find("metadata"), "name");
}

/// A selector's regular expression, as far as people write it: alternatives with `.*` in them.
bool matches_one(std::string_view text, std::string_view pattern) {
  const size_t any = pattern.find(".*");
  if (any == std::string_view::npos) return text == pattern;
  const std::string_view front = pattern.substr(0, any);
  const std::string_view rest = pattern.substr(any + 2);
  if (!text.starts_with(front)) return false;
  if (rest.find(".*") == std::string_view::npos) {
    return text.size() >= front.size() + rest.size() && text.ends_with(rest);
  }
  for (size_t i = front.size(); i <= text.size(); ++i) {
    if (matches_one(text.substr(i), rest)) return true;
  }
  return false;
}

bool matches(std::string_view text, std::string_view pattern) {
  if (pattern.size() > 200 || std::count(pattern.begin(), pattern.end(), '*') > 4) return false;
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  if (pattern.ends_with('$')) pattern.remove_suffix(1);
  while (true) {
    const size_t bar = pattern.find('|');
    if (matches_one(text, pattern.substr(0, bar))) return true;
    if (bar == std::string_view::npos) return false;
    pattern.remove_prefix(bar + 1);
  }
}

/// `labelSelector: a=b,c=d`.
bool has_labels(const Node& manifest, std::string_view selector) {
  const Node* labels = manifest.at({"metadata", "labels"});
  while (!selector.empty()) {
    const std::string_view one = selector.substr(0, selector.find(','));
    selector.remove_prefix(std::min(one.size() + 1, selector.size()));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos) return false;
    std::string_view value = one.substr(equals + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    if (text_of(labels, one.substr(0, equals)) != value) return false;
  }
  return true;
}

bool is_same_object(const Node& manifest, const Node& patch) {
  return text_of(&manifest, "kind") == text_of(&patch, "kind") &&
         name_of(manifest) == name_of(patch);
}

/// "vllm/vllm-openai" of an image with tag or digest.
std::string_view image_name(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const size_t slash = image.rfind('/');
  return image.substr(0, image.find(':', slash == std::string_view::npos ? 0 : slash));
}

NodePtr new_image(const NodePtr& image, const Node& images) {
  for (const NodePtr& entry : images.items) {
    if (text_of(entry.get(), "name") != image_name(image->scalar())) continue;
    const Node* name = entry->find("newName");
    const Node* tag = entry->find("newTag");
    SourceText text = name != nullptr && name->is_scalar()
                          ? name->text
                          : image->text.substr(0, image_name(image->scalar()).size());
    if (tag != nullptr && tag->is_scalar()) {
      text.append_synthetic(":", tag->text.offset(0));
      text.append(tag->text);
    } else if (entry->find("digest") == nullptr) {
      text.append(image->text.substr(image_name(image->scalar()).size()));
    }
    return scalar_of(std::move(text));
  }
  return image;
}

/// The tree with images of containers renamed; `in_container` says what `node` is an item of.
NodePtr with_images(const NodePtr& node, const Node& images, bool in_container, int depth) {
  if (depth > kMaxDepth || node->is_scalar()) return node;
  auto copy = std::make_shared<Node>(*node);
  for (NodePtr& item : copy->items) item = with_images(item, images, in_container, depth + 1);
  for (Entry& entry : copy->entries) {
    const std::string_view key = entry.key.view();
    if (in_container && key == "image" && entry.value->is_scalar()) {
      entry.value = new_image(entry.value, images);
    } else {
      const bool list = key == "containers" || key == "initContainers";
      entry.value = with_images(entry.value, images, list, depth + 1);
    }
  }
  return copy;
}

NodePtr mapping_of(std::string_view key, const NodePtr& value) { return map_of({{key, value}}); }

}  // namespace

bool is_selected(const Node& manifest, const Node& selector) {
  const std::string_view kind = text_of(&selector, "kind");
  const std::string_view name = text_of(&selector, "name");
  return (kind.empty() || matches(text_of(&manifest, "kind"), kind)) &&
         (name.empty() || matches(name_of(manifest), name)) &&
         has_labels(manifest, text_of(&selector, "labelSelector"));
}

void apply_patch(Manifests& manifests, const NodePtr& patch, const Node* target, WorkLimit& limit) {
  const bool operations = is_json_patch(*patch);
  if (operations && (target == nullptr || patch->items.size() > kMaxOperations)) return;
  for (NodePtr& manifest : manifests) {
    const bool wanted =
        target != nullptr ? is_selected(*manifest, *target) : is_same_object(*manifest, *patch);
    if (!wanted || !limit.spend_on(*manifest)) continue;
    if (operations) {
      if (limit.spend(64 * patch->items.size())) manifest = apply_json_patch(manifest, *patch);
    } else {
      manifest = merge_manifests(manifest, patch, limit, lists_of(*manifest));
    }
  }
  std::erase_if(manifests, [](const NodePtr& manifest) {
    return text_of(manifest.get(), "$patch") == "delete";
  });
}

void set_images(Manifests& manifests, const Node& images, WorkLimit& limit) {
  for (NodePtr& manifest : manifests) {
    const bool paid = limit.spend_on(*manifest) && limit.spend(64 * images.items.size());
    if (paid) manifest = with_images(manifest, images, false, 0);
  }
}

void set_replicas(Manifests& manifests, const Node& replicas, WorkLimit& limit) {
  for (const NodePtr& entry : replicas.items) {
    const NodePtr count = share(entry.get(), "count");
    if (count == nullptr) continue;
    for (NodePtr& manifest : manifests) {
      if (name_of(*manifest) != text_of(entry.get(), "name")) continue;
      const Node* spec = manifest->find("spec");
      if (spec == nullptr || spec->find("template") == nullptr) continue;
      manifest =
          merge_manifests(manifest, mapping_of("spec", mapping_of("replicas", count)), limit);
    }
  }
}

void add_config_map(Manifests& manifests, const NodePtr& name, const NodePtr& data,
                    std::string_view behavior, WorkLimit& limit) {
  const NodePtr content = mapping_of("data", data);
  const auto same = [&](const NodePtr& manifest) {
    return text_of(manifest.get(), "kind") == "ConfigMap" && name_of(*manifest) == name->scalar();
  };
  const auto found = std::find_if(manifests.begin(), manifests.end(), same);
  if (behavior == "merge" && found != manifests.end()) {
    *found = merge_manifests(*found, content, limit, Lists::kReplace);
    return;
  }
  if (found != manifests.end()) manifests.erase(found);
  manifests.push_back(map_of({{"kind", text_at("ConfigMap", name->where)},
                              {"apiVersion", text_at("v1", name->where)},
                              {"metadata", mapping_of("name", name)},
                              {"data", data}}));
}

}  // namespace kvbudget
