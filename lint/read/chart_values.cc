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
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 8;  // of a component below the root

bool is_vllm_image(const NodePtr& image) {
  return image != nullptr && image_kind(image->scalar()) != ImageKind::kOther;
}

bool names_vllm(std::string_view key) { return plain_key(key).find("vllm") != std::string::npos; }

bool is_deployed(const ChartScope& scope) {
  return scope.image != nullptr || scope.resources != nullptr || scope.replicas != nullptr ||
         scope.gpu_count != nullptr;
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
  if (look_like_vllm_arguments(scope.arguments) || starts_engine(scope)) return true;
  const bool model = !scope.models.empty();
  const bool settings = model || scope.distinctive > 0 || !scope.arguments.empty();
  if (is_vllm_image(scope.image) && settings) return true;
  if (names_vllm(key) && model) return true;
  return scope.distinctive >= 2 && (is_deployed(scope) || names_vllm(key));
}

class Components {
 public:
  Components(const YamlFile& yaml, FileContents& out) : yaml_(yaml), out_(out) {}

  bool read(const Node& root) {
    images_ = count_images(root, 0);
    const size_t before = out_.starts.size();
    const Place whole{"values", first_key(root)};
    walk(root, whole, {}, 0);
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

  int count_images(const Node& node, int depth) {
    if (depth > kMaxDepth || !yaml_.limit.spend(64)) return 0;
    int count = is_vllm_image(chart_image(node)) ? 1 : 0;
    for (const Entry& entry : node.entries) {
      if (entry.key.view() != "image") count += count_images(*entry.value, depth + 1);
    }
    for (const NodePtr& item : node.items) count += count_images(*item, depth + 1);
    return count;
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
      incomplete_ = !own_model;
      add(full, place);
    }
    for (const Entry& entry : node.entries) {
      const std::string plain = plain_key(entry.key.view());
      if (plain == "image" || is_beside_engine(plain)) continue;
      walk_child(entry, found, full, depth);
    }
  }

  void walk_child(const Entry& entry, bool found, const ChartScope& outer, int depth) {
    const Node& value = *entry.value;
    // What belongs to a component was read with it.
    if (value.is_mapping() && (!found || chart_image(value) != nullptr)) {
      walk(value, {entry.key.str(), entry.key.location()}, context_of(outer), depth + 1);
    }
    if (found) return;
    for (const NodePtr& item : value.items) {
      if (!item->is_mapping()) continue;
      const std::string name(text_of(item.get(), "name"));
      walk(*item, {name.empty() ? entry.key.str() : name, first_key(*item)}, context_of(outer),
           depth + 1);
    }
  }

  /// What holds for the mappings below: not the model, whose place is beside other settings.
  static ChartScope context_of(const ChartScope& outer) {
    ChartScope context;
    context.fill_from(outer);
    if (!is_vllm_image(context.image)) context.image = nullptr;
    if (context.models.size() != 1) context.models.clear();
    return context;
  }

  /// The only component lacks a model: the rest of the file is about it, too.
  void whole_file(const Node& root, const Place& place) {
    ChartScope scope = read_chart_scope(root, true);
    ChartScope own;
    add_nested(root, 0, own);
    scope.options.insert(scope.options.end(), own.options.begin(), own.options.end());
    scope.arguments.insert(scope.arguments.end(), own.arguments.begin(), own.arguments.end());
    scope.env.insert(scope.env.end(), own.env.begin(), own.env.end());
    if (scope.command.empty()) scope.command = own.command;
    if (scope.models.size() > 1) scope.models.clear();
    own.fill_from(scope);
    scope.image = own.image;
    scope.fill_from(own);
    add(scope, place);
  }

  /// The component itself, wherever it is.
  void add_nested(const Node& node, int depth, ChartScope& own) {
    if (depth > kMaxDepth || !yaml_.limit.spend(64)) return;
    if (depth > 0 && is_vllm_image(chart_image(node))) {
      own = read_chart_scope(node);
      return;
    }
    for (const Entry& entry : node.entries) add_nested(*entry.value, depth + 1, own);
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
    if (starts_engine(scope)) {
      pod.command = scope.command;
      for (const Word& word : scope.arguments) pod.command.push_back(scalar_of(word.text));
    } else {
      pod.args = scope.options;
      pod.args.insert(pod.args.end(), scope.arguments.begin(), scope.arguments.end());
      const bool by_flag = std::any_of(pod.args.begin(), pod.args.end(), [](const Word& word) {
        return word.text.view().substr(0, 7) == "--model" &&
               (word.text.size() == 7 || word.text[7] == '=');
      });
      if (by_flag && !image_runs_serve(scope.image == nullptr ? "" : scope.image->scalar())) {
        pod.run_module();
      } else {
        pod.serve(by_flag || scope.models.empty() ? nullptr : scope.models.front().get());
      }
    }
    read_rendered_pod(yaml_, std::move(pod), out_);
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
  int found_ = 0;
  bool incomplete_ = false;
};

}  // namespace

bool read_chart_values(const YamlFile& yaml, const Node& root, FileContents& out) {
  return root.is_mapping() && Components(yaml, out).read(root);
}

}  // namespace kvbudget
