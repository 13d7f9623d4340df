// Values of charts that nobody here knows: an image, a model, options, arguments, resources, under
// whatever keys the chart's author liked (chart_scope.h).
//
// A component is a mapping that speaks of one engine: it names an image of vLLM and a model, holds
// arguments that only vLLM takes, or spells vLLM's options. What a component does not say, the
// mappings around it may; where it is the only one, that is all of the file.

#include <algorithm>
#include <string>

#include "lint/read/chart_scope.h"
#include "lint/read/container.h"
#include "lint/read/invocation.h"
#include "lint/read/manifest.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 8;  // of a component below the root

bool is_vllm_image(const NodePtr& image) {
  return image != nullptr && image_kind(image->scalar()) != ImageKind::kOther;
}

bool names_vllm(std::string_view key) { return plain_key(key).starts_with("vllm"); }

/// Benchmarks and trainers name a model and an image, too.
bool is_deployed(const ChartScope& scope) {
  return scope.image_of_chart || scope.resources != nullptr || scope.replicas != nullptr ||
         scope.gpu_count != nullptr || scope.node_selector != nullptr;
}

bool starts_engine(const ChartScope& scope) {
  std::vector<Word> words;
  for (const NodePtr& item : scope.command) {
    if (item->is_scalar()) words.push_back(word_of(*item));
  }
  words.insert(words.end(), scope.arguments.begin(), scope.arguments.end());
  return !find_invocations(words, {}).empty();
}

bool is_component(const ChartScope& scope, std::string_view key) {
  if (scope.models.size() > 1) return false;  // settings of several engines
  if (scope.foreign || (scope.image != nullptr && is_other_server(scope.image->scalar()))) {
    return false;
  }
  if (look_like_vllm_arguments(scope.arguments) || starts_engine(scope)) return true;
  const bool model = !scope.models.empty();
  if (is_vllm_image(scope.image)) {
    if (scope.distinctive > 0 || !scope.arguments.empty()) return true;
    if (model && (is_deployed(scope) || names_vllm(key))) return true;
  }
  if (names_vllm(key) && model) return true;
  if (scope.distinctive < 2) return false;
  return scope.image != nullptr || is_deployed(scope) || names_vllm(key);
}

bool names_model(const Word& word) {
  const std::string_view text = word.text.view();
  return text == "--model" || text.starts_with("--model=");
}

/// The model stands among the words: `vllm serve MODEL`, `--model MODEL`.
bool words_name_model(const ChartScope& scope) {
  return starts_engine(scope) ||
         std::any_of(scope.arguments.begin(), scope.arguments.end(), names_model);
}

class Components {
 public:
  Components(const YamlFile& yaml, FileContents& out) : yaml_(yaml), out_(out) {}

  bool read(const Node& root) {
    const size_t before = out_.starts.size();
    find_images(root, 0);
    const Place whole{"values", first_key(root)};
    ChartScope outer;
    // Helm gives `global` to all charts below.
    if (const Node* global = root.find("global")) outer = context_of(*global, {});
    walk(root, whole, outer, 0);
    if (images_ == 1 && found_ == 1 && incomplete_) {
      out_.starts.resize(before);
      whole_file(root, whole);
    }
    return found_ > 0;
  }

 private:
  struct Place {
    std::string name;
    Location where;
  };

  void find_images(const Node& node, int depth) {
    if (depth > kMaxDepth || !yaml_.limit.spend(64)) return;
    if (is_vllm_image(chart_image(node))) {
      ++images_;
      image_owner_ = &node;
    }
    for (const Entry& entry : node.entries) {
      if (entry.key.view() != "image") find_images(*entry.value, depth + 1);
    }
    for (const NodePtr& item : node.items) find_images(*item, depth + 1);
  }

  void walk(const Node& node, const Place& place, const ChartScope& outer, int depth) {
    if (depth > kMaxDepth || !yaml_.limit.spend_on(node)) return;
    if (!node.is_mapping() || is_false(node.find("enabled"))) return;
    const ChartScope scope = read_chart_scope(node);
    const bool own_model = !scope.models.empty();
    ChartScope full = scope;
    full.fill_from(outer);
    const bool found = is_component(depth == 0 || own_model ? full : scope, place.name);
    if (found) {
      ++found_;
      incomplete_ = (!own_model && !words_name_model(scope)) || full.image == nullptr;
      add(full, place);
    }
    const ChartScope context = context_of(node, outer);
    for (const Entry& entry : node.entries) {
      const std::string plain = plain_key(entry.key.view());
      if (plain == "image" || is_environment(plain) || is_beside_engine(plain)) continue;
      walk_child(entry, found, context, depth);
    }
  }

  void walk_child(const Entry& entry, bool found, const ChartScope& context, int depth) {
    const Node& value = *entry.value;
    // What belongs to a component was read with it.
    if (value.is_mapping() && (!found || chart_image(value) != nullptr)) {
      walk(value, {entry.key.str(), entry.key.location()}, context, depth + 1);
    }
    if (found) return;
    for (const NodePtr& item : value.items) {
      if (!item->is_mapping()) continue;
      const std::string name(text_of(item.get(), "name"));
      walk(*item, {name.empty() ? entry.key.str() : name, first_key(*item)}, context, depth + 1);
    }
  }

  /// What `node` says for the mappings below.
  static ChartScope context_of(const Node& node, const ChartScope& outer) {
    ChartScope context;
    context.fill_from(read_chart_scope(node, ScopeReach::kOwn));
    context.fill_from(outer);
    if (!is_vllm_image(context.image)) context.image = nullptr;
    if (context.models.size() != 1) context.models.clear();
    return context;
  }

  /// The only component lacks a model or an image, and the file has one: all of it is about the
  /// same engine.
  void whole_file(const Node& root, const Place& place) {
    ChartScope scope = read_chart_scope(root, ScopeReach::kWhole);
    if (image_owner_ != &root) scope.append(read_chart_scope(*image_owner_));
    if (scope.models.size() > 1) scope.models.clear();
    scope.image = chart_image(*image_owner_);
    add(scope, place);
  }

  void add(const ChartScope& scope, const Place& place) {
    RenderedPod pod(yaml_, "helm-values", place.name, place.where);
    pod.base.replicas = number_of(scope.replicas.get());
    pod.image = scope.image;
    pod.env = scope.env;
    pod.node_selector = scope.node_selector;
    pod.affinity = scope.affinity;
    if (pod.node_selector == nullptr && scope.gpu_name != nullptr) {
      pod.node_selector = map_of({{"nvidia.com/gpu.product", scope.gpu_name}});
    }
    pod.resources = scope.resources;
    if (scope.gpu_count != nullptr && !limits_gpus(scope.resources)) {
      pod.resources = limits_of("nvidia.com/gpu", scope.gpu_count);
    }
    add_words(scope, pod);
    read_rendered_pod(yaml_, std::move(pod), out_);
  }

  /// Stands for a word that only the template has.
  static SourceText template_text(const Location& where) {
    SourceText text = SourceText::empty_at(where.file, where.range);
    text.append_synthetic("the chart's template", where.range.begin);
    return text;
  }

  static void add_words(const ChartScope& scope, RenderedPod& pod) {
    if (starts_engine(scope)) {
      pod.is_written = true;
      pod.command = scope.command;
      for (const Word& word : scope.arguments) pod.command.push_back(scalar_of(word.text));
      return;
    }
    pod.args = scope.options;
    pod.args.insert(pod.args.end(), scope.arguments.begin(), scope.arguments.end());
    if (!words_name_model(scope)) {
      const bool here = !scope.models.empty();
      pod.serve(here ? scope.models.front().get() : nullptr);
      const bool positional = !pod.args.empty() && !pod.args.front().text.view().starts_with('-');
      if (!here && !positional)
        pod.args.insert(pod.args.begin(), {template_text(pod.base.where), false});
      return;
    }
    if (scope.options.empty()) pod.base.where = scope.arguments.front().text.location();
    const std::string_view image = scope.image == nullptr ? "" : scope.image->scalar();
    image_runs_serve(image) ? pod.serve(nullptr) : pod.run_module();
  }

  static bool limits_gpus(const NodePtr& resources) {
    for (const std::string_view list : {"limits", "requests"}) {
      const Node* entries = resources == nullptr ? nullptr : resources->find(list);
      if (entries == nullptr) continue;
      for (const Entry& entry : entries->entries) {
        const std::string_view key = entry.key.view();
        if (key.find("/gpu") != std::string_view::npos ||
            key.find("/mig-") != std::string_view::npos)
          return true;
      }
    }
    return false;
  }

  const YamlFile& yaml_;
  FileContents& out_;
  int images_ = 0;
  const Node* image_owner_ = nullptr;
  int found_ = 0;
  bool incomplete_ = false;
};

}  // namespace

bool read_chart_values(const YamlFile& yaml, const Node& root, FileContents& out) {
  // Tests of a chart (helm-unittest) hold values of many deployments that nobody makes.
  const bool tests = root.find("suite") != nullptr && root.find("tests") != nullptr;
  return root.is_mapping() && !tests && Components(yaml, out).read(root);
}

}  // namespace kvbudget
