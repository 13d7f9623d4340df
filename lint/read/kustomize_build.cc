// Order as in kustomize 5.6, api/internal/target: resources, components, generators, then the
// transformers (patches, replicas, images, replacements, vars).

#include "lint/read/kustomize_build.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "lint/read/kustomize_replacements.h"
#include "lint/read/kustomize_transform.h"
#include "lint/read/manifest.h"
#include "lint/read/rendered.h"

namespace kvbudget {

struct Kustomizer::Cache {
  FileOpener open;
  std::map<std::string, std::unique_ptr<Document>> documents;  // of files
  std::vector<std::unique_ptr<Document>> texts;                // of patches inside kustomizations
};

namespace {

constexpr int kMaxDepth = 20;      // of kustomizations that build on each other
constexpr size_t kMaxFiles = 500;  // of one build

constexpr std::array<std::string_view, 3> kNames = {"kustomization.yaml", "kustomization.yml",
                                                    "Kustomization"};

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().generic_string();
}

std::string place_of(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / std::filesystem::path(name))
      .lexically_normal()
      .generic_string();
}

bool is_remote(std::string_view name) {
  return name.find("://") != std::string_view::npos ||
         name.find("?ref=") != std::string_view::npos || name.starts_with("git@") ||
         name.starts_with("github.com/");
}

/// `NAME=value`; quotes around a value belong to the shell that it is not.
void add_literal(const SourceText& text, Node& data) {
  const size_t equals = text.view().find('=');
  if (equals == std::string_view::npos || equals == 0) return;
  SourceText value = text.substr(equals + 1);
  const std::string_view view = value.view();
  const bool quoted = view.size() >= 2 && view.front() == view.back() &&
                      (view.front() == '"' || view.front() == '\'');
  if (quoted) value = value.substr(1, value.size() - 2);
  data.entries.push_back({text.substr(0, equals), scalar_of(std::move(value))});
}

/// Documents stay alive as long as the run: manifests share their nodes.
class Builder {
 public:
  explicit Builder(Kustomizer::Cache& cache) : cache_(cache) {}

  /// Adds what the kustomization at `path` deploys to `manifests`.
  void build(const std::string& path, Manifests& manifests, int depth) {
    constexpr uint64_t kCost = 4096;  // kustomizations may name each other, and often
    const Document* document = depth > kMaxDepth || !limit_.spend(kCost) ? nullptr : read(path);
    if (document == nullptr || document->roots.empty()) return;
    const Node& root = *document->roots.front();
    const std::string folder = folder_of(path);
    for (const std::string_view key : {"resources", "bases"}) {
      for_each(root, key, [&](const Node& name) { add_resource(folder, name, manifests, depth); });
    }
    for_each(root, "components", [&](const Node& name) {
      // A component works on what was gathered before it.
      if (const std::string inner = kustomization_in(folder, name); !inner.empty()) {
        build(inner, manifests, depth + 1);
      }
    });
    for_each(root, "configMapGenerator",
             [&](const Node& map) { generate(folder, map, manifests); });
    patch(folder, root, manifests);
    if (const Node* counts = root.find("replicas")) set_replicas(manifests, *counts, limit_);
    if (const Node* images = root.find("images")) set_images(manifests, *images, limit_);
    for_each(root, "replacements", [&](const Node& item) { replace(folder, item, manifests); });
    if (const Node* variables = root.find("vars")) replace_variables(manifests, *variables, limit_);
  }

  std::vector<std::string> files() const { return {files_.begin(), files_.end()}; }
  WorkLimit& limit() { return limit_; }

 private:
  template <typename Visit>
  static void for_each(const Node& root, std::string_view key, Visit visit) {
    const Node* list = root.find(key);
    if (list == nullptr) return;
    for (const NodePtr& item : list->items) visit(*item);
  }

  const SourceFile* open(const std::string& path) {
    if (files_.size() >= kMaxFiles) return nullptr;
    const SourceFile* file = cache_.open(path);
    if (file != nullptr) files_.insert(path);
    return file;
  }

  const Document* read(const std::string& path) {
    const SourceFile* file = open(path);
    if (file == nullptr || !limit_.spend(file->bytes().size())) return nullptr;
    std::unique_ptr<Document>& document = cache_.documents[path];
    if (document == nullptr) document = std::make_unique<Document>(parse_yaml(*file));
    return document.get();
  }

  /// The kustomization in a folder that `name` names; empty when it names none.
  std::string kustomization_in(const std::string& folder, const Node& name) {
    if (!name.is_scalar() || is_remote(name.scalar())) return {};
    for (const std::string_view file : kNames) {
      const std::string path =
          place_of(folder, std::string(name.scalar()) + "/" + std::string(file));
      if (read(path) != nullptr) return path;
    }
    return {};
  }

  void add_resource(const std::string& folder, const Node& name, Manifests& manifests, int depth) {
    if (!name.is_scalar() || is_remote(name.scalar())) return;
    if (const std::string inner = kustomization_in(folder, name); !inner.empty()) {
      Manifests own;
      build(inner, own, depth + 1);
      manifests.insert(manifests.end(), own.begin(), own.end());
    } else if (const Document* document = read(place_of(folder, name.scalar()))) {
      manifests.insert(manifests.end(), document->roots.begin(), document->roots.end());
    }
  }

  void patch(const std::string& folder, const Node& root, Manifests& manifests) {
    for_each(root, "patchesStrategicMerge",
             [&](const Node& item) { apply(document_of(folder, item), nullptr, manifests); });
    for (const std::string_view key : {"patches", "patchesJson6902"}) {
      for_each(root, key, [&](const Node& item) {
        const Node* text = item.find("patch");
        const Node* path = item.find("path");
        if (text != nullptr) {
          apply(parse(*text), item.find("target"), manifests);
        } else if (path != nullptr && path->is_scalar()) {
          apply(read(place_of(folder, path->scalar())), item.find("target"), manifests);
        }
      });
    }
  }

  /// A replacement, or the path of a file that holds some.
  void replace(const std::string& folder, const Node& item, Manifests& manifests) {
    const Node* path = item.find("path");
    if (path == nullptr) return replace_fields(manifests, item, limit_);
    const Document* document = read(place_of(folder, path->scalar()));
    for (const NodePtr& root : document == nullptr ? Manifests() : document->roots) {
      if (root->is_mapping()) replace_fields(manifests, *root, limit_);
      for (const NodePtr& one : root->items) replace_fields(manifests, *one, limit_);
    }
  }

  /// A path, or the manifest itself.
  const Document* document_of(const std::string& folder, const Node& item) {
    const bool text = item.scalar().find('\n') != std::string_view::npos;
    return text ? parse(item) : read(place_of(folder, item.scalar()));
  }

  const Document* parse(const Node& text) {
    if (!text.is_scalar() || !limit_.spend(16 * text.text.size())) return nullptr;
    cache_.texts.push_back(std::make_unique<Document>(parse_yaml(text.text)));
    return cache_.texts.back().get();
  }

  void apply(const Document* document, const Node* target, Manifests& manifests) {
    if (document == nullptr) return;
    for (const NodePtr& root : document->roots) apply_patch(manifests, root, target, limit_);
  }

  void generate(const std::string& folder, const Node& map, Manifests& manifests) {
    const NodePtr name = share(&map, "name");
    if (name == nullptr || !name->is_scalar()) return;
    auto data = std::make_shared<Node>();
    data->kind = Node::Kind::kMapping;
    data->where = name->where;
    for_each(map, "literals", [&](const Node& item) { add_literal(item.text, *data); });
    for_each(map, "envs", [&](const Node& item) { add_variables(folder, item, *data); });
    if (const Node* env = map.find("env")) add_variables(folder, *env, *data);
    for_each(map, "files", [&](const Node& item) { add_file(folder, item, *data); });
    add_config_map(manifests, name, data, text_of(&map, "behavior"), limit_);
  }

  void add_variables(const std::string& folder, const Node& path, Node& data) {
    const SourceFile* file = path.is_scalar() ? open(place_of(folder, path.scalar())) : nullptr;
    if (file == nullptr || !limit_.spend(8 * file->bytes().size())) return;
    for (uint32_t line = 1; line <= file->line_count(); ++line) {
      const std::string_view text = file->line_text(line);
      if (text.empty() || text[0] == '#') continue;
      const uint32_t begin = file->line_start(line);
      add_literal({*file, {begin, begin + static_cast<uint32_t>(text.size())}}, data);
    }
  }

  /// `path`, or `key=path`.
  void add_file(const std::string& folder, const Node& item, Node& data) {
    if (!item.is_scalar()) return;
    const size_t equals = item.scalar().find('=');
    const bool named = equals != std::string_view::npos;
    const SourceText path = named ? item.text.substr(equals + 1) : item.text;
    const SourceText key =
        named ? item.text.substr(0, equals) : path.substr(path.view().rfind('/') + 1);
    const SourceFile* file = open(place_of(folder, path.view()));
    if (file == nullptr || !limit_.spend(8 * file->bytes().size())) return;
    const auto size = static_cast<uint32_t>(file->bytes().size());
    data.entries.push_back({key, scalar_of(SourceText(*file, {0, size}))});
  }

  Kustomizer::Cache& cache_;
  WorkLimit limit_;
  std::set<std::string> files_;
};

std::string folder_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).parent_path().filename().generic_string();
  return name.empty() ? "." : name;
}

}  // namespace

bool is_kustomization_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Kustomizer::Kustomizer(FileOpener open) : cache_(new Cache{std::move(open), {}, {}}) {}
Kustomizer::~Kustomizer() = default;

KustomizeBuild Kustomizer::build(const SourceFile& file) {
  KustomizeBuild result;
  Builder builder(*cache_);
  const std::string path = place_of("", file.path());
  Manifests manifests;
  builder.build(path, manifests, 0);
  FileContents contents;
  const YamlFile yaml{file, manifests, builder.limit()};
  for (const NodePtr& manifest : manifests) {
    if (yaml.limit.spend(64 * manifests.size())) read_yaml_document(yaml, *manifest, contents);
  }
  const Document own = parse_yaml(file);
  for (EngineStart& start : contents.starts) {
    start.name = folder_name(path) + ": " + start.name;
    start.file = &file;
    start.where = own.roots.empty() ? Location{&file, {0, 0}} : first_key(*own.roots.front());
    result.starts.push_back(std::move(start));
  }
  result.files = builder.files();
  return result;
}

}  // namespace kvbudget
