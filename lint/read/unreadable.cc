#include "lint/read/unreadable.h"

#include <algorithm>

#include "lint/read/readers.h"
#include "lint/read/vllm_names.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {
namespace {

bool has_content(const NodePtr& root) { return root->kind != Node::Kind::kNull; }

}  // namespace

std::optional<SyntaxError> why_unreadable(const SourceFile& file) {
  const std::string_view bytes = file.bytes();
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return SyntaxError{{&file, {0, 0}}, "the file is empty"};
  }
  if (const size_t nul = bytes.find('\0'); nul != std::string_view::npos) {
    const auto at = static_cast<uint32_t>(nul);
    return SyntaxError{{&file, {at, at + 1}},
                       "a NUL byte: this is no text file (or UTF-16; only UTF-8 is read)"};
  }
  const bool other_kind = is_dockerfile(file) || is_systemd_unit(file) || is_terraform(file) ||
                          is_python_script(file) || is_makefile(file);
  if (!is_yaml_name(file.path()) && !is_shell_script(file) && !other_kind && mentions_vllm(bytes)) {
    return SyntaxError{{&file, {0, 0}},
                       "no reader for this kind of file; YAML, JSON, scripts of a shell or of "
                       "Python, Makefiles, Dockerfiles, systemd units and Terraform are read"};
  }
  if (!is_yaml_name(file.path()) || has_template_action(bytes)) return std::nullopt;
  Document document = parse_yaml(file);
  if (document.errors.empty() ||
      std::any_of(document.roots.begin(), document.roots.end(), has_content)) {
    return std::nullopt;
  }
  return std::move(document.errors.front());
}

}  // namespace kvbudget
