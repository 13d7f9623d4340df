// Terraform and OpenTofu: manifests, values and start-up scripts in heredocs, and resources that
// hold pods (the provider hashicorp/kubernetes 2.38, `kubernetes_manifest`, Cloud Run) or values
// (`helm_release`) as blocks.
//
// HCL (github.com/hashicorp/hcl, hclsyntax/spec.md, 2.20): `<<WORD` and `<<-WORD` open a heredoc
// that ends at a line of that word alone; the second form takes the common indentation away.
// `${…}` is decided by Terraform and stays unknown; lines of `%{…}` alone are directives.

#include <algorithm>
#include <string>

#include "lint/read/container.h"
#include "lint/read/hcl.h"
#include "lint/read/nomad.h"
#include "lint/read/rendered.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

struct Line {
  uint32_t begin = 0;
  uint32_t end = 0;  ///< without the line break
};

/// The word behind `<<` or `<<-` at the end of a line; empty when no heredoc opens there.
std::string_view opened_word(std::string_view line) {
  const size_t mark = line.rfind("<<");
  if (mark == std::string_view::npos) return {};
  std::string_view word = line.substr(mark + 2);
  if (word.starts_with('-')) word.remove_prefix(1);
  word = trimmed(word);
  const bool name = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return name ? word : std::string_view();
}

class HeredocReader {
 public:
  HeredocReader(const SourceFile& file, WorkLimit& limit, FileContents& out)
      : file_(file), limit_(limit), out_(out) {}

  void read() {
    for (uint32_t number = 1; number <= file_.line_count(); ++number) {
      const std::string_view word = opened_word(file_.line_text(number));
      if (word.empty()) continue;
      std::vector<Line> lines;
      while (++number <= file_.line_count() && trimmed(file_.line_text(number)) != word) {
        const uint32_t begin = file_.line_start(number);
        const auto size = static_cast<uint32_t>(file_.line_text(number).size());
        lines.push_back({begin, begin + size});
      }
      read_heredoc(lines);
    }
  }

 private:
  std::string_view text_of_line(const Line& line) const {
    return file_.bytes().substr(line.begin, line.end - line.begin);
  }

  /// The text as Terraform passes it on, each byte with its place.
  SourceText join_lines(const std::vector<Line>& lines) const {
    uint32_t indent = UINT32_MAX;
    for (const Line& line : lines) {
      const size_t first = text_of_line(line).find_first_not_of(" \t\r");
      if (first != std::string_view::npos) indent = std::min(indent, static_cast<uint32_t>(first));
    }
    SourceText text = SourceText::empty_at(&file_, {lines.front().begin, lines.front().begin});
    for (const Line& line : lines) {
      const bool directive = trimmed(text_of_line(line)).starts_with("%{");
      const uint32_t begin = std::min(line.end, line.begin + indent);
      if (!directive) text.append(SourceText(file_, {begin, line.end}));
      if (line.end < file_.bytes().size()) text.append('\n', line.end);
    }
    return text;
  }

  void read_heredoc(const std::vector<Line>& lines) {
    if (lines.empty()) return;
    const SourceText text = join_lines(lines);
    if (!limit_.spend(64 * uint64_t{text.size()})) return;
    if (text.view().starts_with("#!")) {
      EngineStart base;
      base.file = &file_;
      base.kind = "terraform";
      base.name = "script";
      add_script_starts(text, {}, base, out_);
      return;
    }
    const Document document = parse_yaml(text);
    const YamlFile yaml{file_, document.roots, limit_};
    for (const NodePtr& root : document.roots) read_yaml_document(yaml, *root, out_);
  }

  const SourceFile& file_;
  WorkLimit& limit_;
  FileContents& out_;
};

/// "Deployment" of `kubernetes_deployment_v1`, "CloudRunV2Service" of
/// `google_cloud_run_v2_service`.
std::string kind_of(std::string_view type) {
  type.remove_prefix(std::min(type.find('_') + 1, type.size()));
  if (type.ends_with("_v1")) type.remove_suffix(3);
  std::string kind;
  for (size_t i = 0; i < type.size(); ++i) {
    const bool first = i == 0 || type[i - 1] == '_';
    const bool letter = type[i] >= 'a' && type[i] <= 'z';
    if (type[i] != '_') kind += first && letter ? static_cast<char>(type[i] - 'a' + 'A') : type[i];
  }
  return kind;
}

/// A resource as the object that its provider sends.
class ResourceReader {
 public:
  ResourceReader(const SourceFile& file, WorkLimit& limit, FileContents& out)
      : yaml_{file, roots_, limit}, out_(out) {}

  void read(const HclBlock& block) {
    if (block.type.view() != "resource" || block.labels.size() != 2) return;
    const SourceText& type = block.labels[0];
    if (type.view() == "helm_release") return read_release(block);
    if (const Node* manifest = block.body->find("manifest"); manifest && manifest->is_mapping()) {
      read_yaml_document(yaml_, *manifest, out_);
      return;
    }
    Node object = *object_of(block, kind_of(type.view()));
    object.entries.insert(object.entries.end(), block.body->entries.begin(),
                          block.body->entries.end());
    read_yaml_document(yaml_, object, out_);
  }

 private:
  /// `apiVersion`, `kind` and the resource's own name, at its beginning.
  static NodePtr object_of(const HclBlock& block, const std::string& kind) {
    const Location where = block.type.location();
    auto object = std::make_shared<Node>();
    object->kind = Node::Kind::kMapping;
    object->where = where;
    object->entries.push_back({word_over("apiVersion", block.type).text, text_at("v1", where)});
    object->entries.push_back({word_over("kind", block.type).text, text_at(kind, where)});
    object->entries.push_back(
        {word_over("metadata", block.type).text, map_of({{"name", scalar_of(block.labels[1])}})});
    return object;
  }

  void read_spec(const HclBlock& block, const std::string& kind, NodePtr spec) {
    Node object = *object_of(block, kind);
    object.entries.push_back({word_over("spec", block.type).text, std::move(spec)});
    read_yaml_document(yaml_, object, out_);
  }

  /// `values` are texts of YAML, mostly by yamlencode(); heredocs among them are read as such.
  void read_release(const HclBlock& block) {
    if (const Node* values = block.body->find("values")) {
      for (const NodePtr& value : values->items) {
        if (value->is_mapping()) read_spec(block, "HelmRelease", map_of({{"values", value}}));
      }
    }
    if (NodePtr set = share(block.body.get(), "set"); set != nullptr && set->is_sequence()) {
      NodePtr helm = map_of({{"parameters", set}});
      read_spec(block, "Application", map_of({{"source", map_of({{"helm", helm}})}}));
    }
  }

  const std::vector<NodePtr> roots_;
  const YamlFile yaml_;
  FileContents& out_;
};

}  // namespace

bool is_terraform(const SourceFile& file) {
  const std::string_view path = file.path();
  return path.ends_with(".tf") || path.ends_with(".tofu") || path.ends_with(".hcl") ||
         path.ends_with(".nomad");
}

void read_terraform(const SourceFile& file, FileContents& out) {
  WorkLimit limit;
  HeredocReader(file, limit, out).read();
  ResourceReader resources(file, limit, out);
  for (const HclBlock& block : parse_hcl(file)) {
    block.type.view() == "job" ? read_nomad_job(file, block, out) : resources.read(block);
  }
}

}  // namespace kvbudget
