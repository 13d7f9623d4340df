// kustomization.yaml: patches that stand in it, and the tags it gives images. Files that it names
// are read by themselves. Source: kustomize 5.6, api/types/kustomization.go.

#include <string>

#include "lint/read/container.h"
#include "lint/read/json_patch.h"
#include "lint/read/readers.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

/// "Kind/name" of what a patch is for.
std::string target_of(const Node& patch) {
  const Node* target = patch.find("target");
  std::string result;
  for (const std::string_view key : {"kind", "name"}) {
    const Node* part = target == nullptr ? nullptr : target->find(key);
    if (part != nullptr && part->is_scalar()) {
      result += (result.empty() ? "" : "/") + std::string(part->scalar());
    }
  }
  return result;
}

void read_patch(const YamlFile& yaml, const Node& text, const std::string& target,
                FileContents& out) {
  // A path is one line without `: `.
  if (!text.is_scalar() || text.scalar().find('\n') == std::string_view::npos) return;
  if (!yaml.limit.spend(16 * text.text.size())) return;
  const Document document = parse_yaml(text.text);
  const YamlFile inner{yaml.file, document.roots, yaml.limit};
  for (const NodePtr& root : document.roots) {
    if (is_json_patch(*root)) {
      read_json_patch_of(inner, *root, target, out);
    } else {
      read_yaml_document(inner, *root, out);
    }
  }
}

void read_patches(const YamlFile& yaml, const Node& root, FileContents& out) {
  for (const std::string_view key : {"patches", "patchesJson6902"}) {
    const Node* list = root.find(key);
    if (list == nullptr) continue;
    for (const NodePtr& item : list->items) {
      const Node* text = item->find("patch");
      if (text != nullptr) read_patch(yaml, *text, target_of(*item), out);
    }
  }
  if (const Node* list = root.find("patchesStrategicMerge")) {
    for (const NodePtr& item : list->items) read_patch(yaml, *item, "", out);
  }
}

/// What a patch leaves out stands in what it changes.
void mark_as_parts(size_t first, FileContents& out) {
  for (size_t i = first; i < out.starts.size(); ++i) {
    std::shared_ptr<const Surroundings>& around = out.starts[i].around;
    if (around == nullptr) continue;
    auto part = std::make_shared<Surroundings>(*around);
    part->whole = false;
    around = std::move(part);
  }
}

/// "name:tag" of an `images` entry, when its image is one of vLLM.
std::optional<SourceText> image_of(const Node& image) {
  const Node* name = image.find("newName");
  if (name == nullptr) name = image.find("name");
  const Node* tag = image.find("newTag");
  if (name == nullptr || !name->is_scalar()) return std::nullopt;
  if (image_kind(name->scalar()) == ImageKind::kOther) return std::nullopt;
  SourceText result = name->text;
  if (tag == nullptr || !tag->is_scalar()) return result;
  result.append_synthetic(":", tag->text.offset(0));
  result.append(tag->text);
  return result;
}

/// The only image of vLLM is the one of engines whose container is elsewhere.
void set_image(const Node& root, size_t first, FileContents& out) {
  const Node* images = root.find("images");
  if (images == nullptr) return;
  std::optional<SourceText> only;
  for (const NodePtr& item : images->items) {
    const std::optional<SourceText> image = image_of(*item);
    if (image && only) return;
    if (image) only = image;
  }
  for (size_t i = first; only && i < out.starts.size(); ++i) {
    if (!out.starts[i].image) out.starts[i].image = only;
  }
}

}  // namespace

bool read_kustomization(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* kind = root.find("kind");
  const Node* version = root.find("apiVersion");
  const bool named =
      kind != nullptr && (kind->scalar() == "Kustomization" || kind->scalar() == "Component");
  const bool of_kustomize =
      version == nullptr || version->scalar().starts_with("kustomize.config.k8s.io/");
  // Both may be left out: the file's name says what it is.
  const bool bare = kind == nullptr && version == nullptr &&
                    (root.find("patches") != nullptr || root.find("patchesJson6902") != nullptr ||
                     root.find("patchesStrategicMerge") != nullptr);
  if (!(named && of_kustomize) && !bare) return false;
  const size_t before = out.starts.size();
  read_patches(yaml, root, out);
  mark_as_parts(before, out);
  set_image(root, before, out);
  return true;
}

}  // namespace kvbudget
