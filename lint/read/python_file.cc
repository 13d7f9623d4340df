// Python scripts: engines made by the classes of vLLM, and engines started as programs. What stands
// around them in the platforms that run such scripts is read where its form says enough: `gpu=`
// (Modal, Beam), the image and the release of vLLM that it is built from, its variables
// (`Image.from_registry`, `uv_pip_install("vllm==…")`, `.env({…})`, modal 1.2).

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lint/read/accelerators.h"
#include "lint/read/config_keys.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/pip_pin.h"
#include "lint/read/python_commands.h"
#include "lint/read/python_engines.h"
#include "lint/read/readers.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

bool is_known_text(const Node& node) {
  return node.is_scalar() && !node.scalar().empty() && !has_placeholder(node.scalar());
}

/// Arguments of the calls of a function that says something of an image.
std::vector<NodePtr> said_of_images(const PythonScript& script, std::string_view function) {
  constexpr size_t kMaxCalls = 20;
  std::vector<NodePtr> found;
  size_t looked_at = 0;
  for (const PythonCall& call : script.calls()) {
    if (call.name != function || ++looked_at > kMaxCalls) continue;
    if (NodePtr arguments = script.arguments_of(call)) found.push_back(std::move(arguments));
  }
  return found;
}

/// Variables of the script itself, and of the image that it builds.
std::vector<EnvVar> variables_of(const PythonScript& script) {
  std::vector<EnvVar> variables;
  for (const NodePtr& arguments : said_of_images(script, "env")) {
    if (arguments->items.size() != 1 || !arguments->items[0]->is_mapping()) continue;
    add_variables(arguments->items[0].get(), variables);
  }
  for (EnvVar& variable : script.environment_set()) variables.push_back(std::move(variable));
  return variables;
}

/// "H100:2" where all functions of the script ask for the same.
GpuRequest gpu_of(const PythonScript& script) {
  GpuRequest request;
  std::optional<SourceText> asked;
  for (const size_t at : script.gpus()) {
    const NodePtr node = script.value_at(at);
    if (!is_known_text(*node) || (asked && asked->view() != node->scalar())) return {};
    asked = node->text;
  }
  if (!asked || asked->view() == "any") return {};
  const size_t colon = asked->view().find(':');
  const SourceText name = asked->substr(0, colon);
  if (name.view().find_first_not_of("0123456789") == std::string_view::npos) return {};
  request.name = {name.str(), name.location()};
  if (colon != std::string_view::npos) {
    request.count = whole_number(asked->substr(colon + 1));
  } else if (script.text().view().find("import modal") != std::string_view::npos) {
    request.count = Located<uint32_t>{1, name.location()};
  }
  return request;
}

/// The image of vLLM that the script's containers start from, if there is one only.
std::optional<SourceText> image_of(const PythonScript& script) {
  std::optional<SourceText> image;
  for (const NodePtr& arguments : said_of_images(script, "from_registry")) {
    if (arguments->items.empty()) continue;
    const Node& name = *arguments->items[0];
    if (!is_known_text(name) || image_kind(name.scalar()) == ImageKind::kOther) continue;
    if (image) return std::nullopt;
    image = name.text;
  }
  return image;
}

}  // namespace

bool is_python_script(const SourceFile& file) {
  const std::string_view first = file.line_text(1);
  return file.path().ends_with(".py") ||
         (first.starts_with("#!") && first.find("python") != std::string_view::npos);
}

void read_python_script(const SourceFile& file, FileContents& out) {
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  EngineStart base;
  base.file = &file;
  base.kind = "python";
  base.name = "script";
  base.version = pinned_vllm(text);
  PythonScript script(text);
  base.env = variables_of(script);
  script.see(base.env);
  base.gpu = gpu_of(script);
  base.image = image_of(script);
  add_python_engines(script, base, out);
  add_python_commands(script, base, out);
}

}  // namespace kvbudget
