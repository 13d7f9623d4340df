#include "lint/read/container.h"

#include <charconv>

#include "lint/read/invocation.h"
#include "lint/read/vllm_names.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {
namespace {

/// The image's own entrypoint is the engine: `words` are its arguments.
std::optional<Invocation> started_by_image(const Container& container, const EngineStart& base) {
  const std::string_view image = base.image ? base.image->view() : std::string_view();
  const ImageKind kind = image_kind(image);
  const bool server = kind == ImageKind::kVllmServer;
  const bool replaced = container.has_entrypoint && runs_engine(image) &&
                        !container.words.empty() &&
                        container.words[0].text.view().starts_with("--");
  if (container.has_entrypoint && !replaced) return std::nullopt;
  if (!server && !look_like_vllm_arguments(container.words)) return std::nullopt;
  Invocation invocation;
  invocation.entry_replaced = replaced;
  invocation.argv = container.words;
  invocation.serve = image_runs_serve(image);
  return invocation;
}

Location place_of(const Invocation& invocation, const EngineStart& base) {
  if (invocation.where) return invocation.where;
  if (!invocation.argv.empty()) {
    if (const Location where = invocation.argv.front().text.location()) return where;
  }
  return base.image ? base.image->location() : base.where;
}

void add_starts(std::vector<Invocation> invocations, const EngineStart& base, FileContents& out) {
  for (Invocation& invocation : invocations) {
    EngineStart start = base;
    start.where = place_of(invocation, base);
    start.argv = std::move(invocation.argv);
    start.wrapper_flags = std::move(invocation.wrapper_flags);
    if (!invocation.config.empty()) start.config = std::move(invocation.config);
    start.serve = invocation.serve;
    start.use = invocation.use;
    start.repeated_entry = std::move(invocation.repeated_entry);
    start.entry_replaced = invocation.entry_replaced;
    start.cut_off = std::move(invocation.cut_off);
    start.env = std::move(invocation.env);
    if (invocation.image) {  // of `docker run`
      start.around = std::move(invocation.around);
      start.image_known = invocation.image->known;
      start.image = std::move(invocation.image->text);
      if (!invocation.gpu.resource.empty()) start.gpu.resource = invocation.gpu.resource;
      if (invocation.gpu.count) start.gpu.count = invocation.gpu.count;  // of the machine's
      start.serves_traffic = start.serves_traffic || invocation.publishes_port;
    }
    out.starts.push_back(std::move(start));
  }
}

}  // namespace

void add_container_starts(const Container& container, const EngineStart& base, FileContents& out) {
  ShellScope scope;
  for (const EnvVar& variable : base.env) scope.inherit(variable);
  std::vector<Invocation> invocations = find_invocations(container.words, std::move(scope));
  if (invocations.empty()) {
    std::optional<Invocation> by_image = started_by_image(container, base);
    if (!by_image) return;
    by_image->env = base.env;
    invocations.push_back(std::move(*by_image));
  }
  if (!container.has_entrypoint && base.image && base.image_known) {
    for (Invocation& invocation : invocations) {
      if (invocation.image) continue;
      invocation.repeated_entry = repeated_entry(base.image->view(), container.words);
      if (invocation.argv.size() == container.words.size()) drop_entry(invocation);
    }
  }
  add_starts(std::move(invocations), base, out);
}

void add_script_starts(const SourceText& script, ShellScope scope, const EngineStart& base,
                       FileContents& out) {
  for (const EnvVar& variable : base.env) scope.inherit(variable);
  std::vector<Invocation> invocations = find_invocations_in_script(script, std::move(scope));
  for (Invocation& invocation : invocations) {
    std::erase_if(invocation.env, [](const EnvVar& v) { return v.name.file() == nullptr; });
  }
  add_starts(std::move(invocations), base, out);
}

Word word_of(const Node& scalar) { return {scalar.text, !has_template_action(scalar.text.view())}; }

std::optional<Located<std::string>> located_text(const Node* node) {
  if (node == nullptr || !node->is_scalar() || !word_of(*node).known) return std::nullopt;
  return Located<std::string>{std::string(node->scalar()), node->where};
}

std::optional<Located<uint32_t>> number_of(const Node* node) {
  if (node == nullptr || !node->is_scalar()) return std::nullopt;
  const std::string_view text = node->scalar();
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Located<uint32_t>{value, node->where};
}

}  // namespace kvbudget
