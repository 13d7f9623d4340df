// Keys are a table; each reads one value of the document and says what is wrong with it.
#include "lint/project.h"

#include <algorithm>
#include <array>

#include "lint/files.h"
#include "lint/inputs.h"
#include "lint/own_keys.h"
#include "lint/read/document.h"

namespace kvbudget {
namespace {

std::string at(const Location& where, const std::string& message) {
  const Position place = where.file->position(where.range.begin);
  return where.file->path() + ":" + std::to_string(place.line) + ":" +
         std::to_string(place.column) + ": " + message;
}

/// Reads values and keeps the first error.
class ProjectReader {
 public:
  explicit ProjectReader(Project& project) : project_(project) {}

  const std::string& error() const { return error_; }

  void read(const Node& root) {
    for (const Entry& entry : root.entries) {
      const std::string_view key = entry.key.view();
      const Node& value = *entry.value;
      if (key == "exclude") {
        read_patterns(value, project_.exclude);
      } else if (key == "overrides") {
        read_overrides(value);
      } else if (key == "calibration") {
        continue;  // written and read by `kvbudget observe`
      } else if (!read_setting(entry, project_.settings)) {
        unknown(entry.key, {"engine", "gpu", "models", "model-config", "exclude", "rules",
                            "thresholds", "workload", "admission", "overrides", "calibration"});
      }
    }
  }

 private:
  void fail(const Location& where, const std::string& message) {
    if (error_.empty()) error_ = at(where, message);
  }

  void unknown(const SourceText& key, const std::vector<std::string_view>& known) {
    fail(key.location(), unknown_key(key.view(), known));
  }

  /// False when the key is none of those that overrides may hold too.
  bool read_setting(const Entry& entry, ProjectSettings& settings) {
    struct Key {
      std::string_view name;
      void (ProjectReader::*read)(const Node&, ProjectSettings&);
    };
    static constexpr std::array<Key, 8> kKeys = {{
        {"engine", &ProjectReader::read_engine},
        {"gpu", &ProjectReader::read_gpu},
        {"models", &ProjectReader::read_models},
        {"model-config", &ProjectReader::read_model_configs},
        {"rules", &ProjectReader::read_rules},
        {"thresholds", &ProjectReader::read_thresholds},
        {"workload", &ProjectReader::read_load},
        {"admission", &ProjectReader::read_budget},
    }};
    for (const Key& key : kKeys) {
      if (entry.key.view() != key.name) continue;
      (this->*key.read)(*entry.value, settings);
      return true;
    }
    return false;
  }

  std::string path_of(const Node& value) const {
    const std::string path(value.scalar());
    return path.starts_with('/') ? path : join_path(project_.folder, path);
  }

  bool expect_mapping(const Node& value, const char* what) {
    if (!value.is_mapping()) fail(value.where, std::string("expected ") + what);
    return value.is_mapping();
  }

  /// Scalars of a list, or one scalar.
  std::vector<const Node*> texts(const Node& value) {
    std::vector<const Node*> result;
    if (value.is_scalar()) return {&value};
    for (const NodePtr& item : value.items) {
      if (!item->is_scalar()) fail(item->where, "expected a text");
      if (item->is_scalar()) result.push_back(item.get());
    }
    if (!value.is_sequence()) fail(value.where, "expected a list");
    return result;
  }

  void read_patterns(const Node& value, PathPatterns& patterns) {
    for (const Node* text : texts(value)) patterns.add(text->scalar());
  }

  void read_engine(const Node& value, ProjectSettings& settings) {
    settings.engine = parse_engine(value.scalar());
    if (!settings.engine) fail(value.where, "engine: expected vllm@VERSION, such as vllm@0.19.0");
  }

  void read_gpu(const Node& value, ProjectSettings& settings) {
    std::string name(value.scalar());
    std::string memory;
    if (value.is_mapping()) {
      for (const Entry& entry : value.entries) {
        if (entry.key.view() == "name") {
          name = std::string(entry.value->scalar());
        } else if (entry.key.view() == "memory") {
          memory = std::string(entry.value->scalar());
        } else if (entry.key.view() == "count") {
          settings.gpu_count = static_cast<uint32_t>(number(*entry.value, 1, 100000));
        } else {
          unknown(entry.key, {"name", "count", "memory"});
        }
      }
    }
    const CardResult card = read_card(name, memory);
    if (!card.error.empty()) return fail(value.where, "gpu: " + card.error);
    if (!card.gpu) return fail(value.where, "gpu: expected a name, or name, count and memory");
    settings.gpu = card.gpu;
    if (card.count != 0) settings.gpu_count = card.count;
  }

  void read_models(const Node& value, ProjectSettings& settings) {
    for (const Node* text : texts(value)) settings.model_folders.push_back(path_of(*text));
  }

  void read_model_configs(const Node& value, ProjectSettings& settings) {
    if (!expect_mapping(value, "model ids with the paths of their config.json")) return;
    for (const Entry& entry : value.entries) {
      settings.model_configs.push_back({entry.key.str(), path_of(*entry.value)});
    }
  }

  void read_rules(const Node& value, ProjectSettings& settings) {
    if (!expect_mapping(value, "rules with off, info, warning or error")) return;
    for (const Entry& entry : value.entries) {
      const std::string_view text = entry.value->scalar();
      RuleLevel level;
      // YAML 1.1 reads a bare off as false.
      bool known = text == "off" || text == "false";
      for (const Severity severity : {Severity::kInfo, Severity::kWarning, Severity::kError}) {
        if (text != severity_name(severity)) continue;
        level = severity;
        known = true;
      }
      if (!known) {
        fail(entry.value->where,
             "rules: " + entry.key.str() + ": expected off, info, warning or error");
      }
      settings.rules[entry.key.str()] = level;
    }
  }

  double number(const Node& value, double least, double most) {
    const BoundedNumber number = bounded_number(value, least, most);
    if (!number.error.empty()) fail(value.where, number.error);
    return number.value;
  }

  void read_thresholds(const Node& value, ProjectSettings& settings) {
    if (!expect_mapping(value, "thresholds by name")) return;
    for (const Entry& entry : value.entries) {
      if (entry.key.view() != "max-preemption-risk") {
        unknown(entry.key, {"max-preemption-risk"});
      } else {
        settings.max_preemption_risk = number(*entry.value, 0.0, 1.0);
      }
    }
  }

  void read_load(const Node& value, ProjectSettings& settings) {
    std::vector<SyntaxError> faults;
    read_workload(value, settings.workload, faults);
    for (const SyntaxError& fault : faults) fail(fault.where, fault.message);
  }

  void read_budget(const Node& value, ProjectSettings& settings) {
    std::vector<SyntaxError> faults;
    read_admission(value, settings.admission, faults);
    for (const SyntaxError& fault : faults) fail(fault.where, fault.message);
  }

  void read_overrides(const Node& value) {
    if (!value.is_sequence()) return fail(value.where, "overrides: expected a list");
    for (const NodePtr& item : value.items) {
      if (!expect_mapping(*item, "files and the settings for them")) return;
      ProjectOverride& over = project_.overrides.emplace_back();
      for (const Entry& entry : item->entries) {
        if (entry.key.view() == "files") {
          read_patterns(*entry.value, over.files);
        } else if (!read_setting(entry, over.settings)) {
          unknown(entry.key, {"files", "engine", "gpu", "models", "model-config", "rules",
                              "thresholds", "workload", "admission"});
        }
      }
      if (over.files.empty()) fail(item->where, "overrides: 'files' is missing");
    }
  }

  Project& project_;
  std::string error_;
};

template <typename T>
void take(std::optional<T>& into, const std::optional<T>& from) {
  if (from) into = from;
}

void merge(ProjectSettings& into, const ProjectSettings& from) {
  take(into.engine, from.engine);
  if (from.gpu) {
    into.gpu = from.gpu;
    into.gpu_count = from.gpu_count;
  }
  // The first that knows a model wins, so what is nearer goes in front.
  into.model_configs.insert(into.model_configs.begin(), from.model_configs.begin(),
                            from.model_configs.end());
  into.model_folders.insert(into.model_folders.begin(), from.model_folders.begin(),
                            from.model_folders.end());
  for (const auto& [rule, level] : from.rules) into.rules[rule] = level;
  merge(into.workload, from.workload);
  merge(into.admission, from.admission);
  take(into.max_preemption_risk, from.max_preemption_risk);
}

}  // namespace

std::optional<std::string> Project::relative(std::string_view file) const {
  if (folder.empty() || folder == ".") return std::string(file);
  const std::string prefix = join_path(folder, "");
  if (!file.starts_with(prefix)) return std::nullopt;
  return std::string(file.substr(prefix.size()));
}

bool Project::excludes(std::string_view file) const {
  const auto inside = relative(file);
  return inside && exclude.covers(*inside);
}

ProjectSettings Project::settings_for(std::string_view file) const {
  ProjectSettings result = settings;
  const auto inside = relative(file);
  for (const ProjectOverride& over : overrides) {
    if (inside && over.files.covers(*inside)) merge(result, over.settings);
  }
  return result;
}

ProjectResult read_project(const SourceFile& file) {
  ProjectResult result;
  Project project;
  project.path = file.path();
  project.folder = parent_folder(project.path);
  const Document document = parse_yaml(file);
  if (!document.errors.empty()) {
    result.error = at(document.errors.front().where, document.errors.front().message);
    return result;
  }
  ProjectReader reader(project);
  for (const NodePtr& root : document.roots) {
    if (root->kind == Node::Kind::kNull) continue;
    if (!root->is_mapping()) {
      result.error = at(root->where, "expected keys such as engine and gpu");
      return result;
    }
    reader.read(*root);
  }
  result.error = reader.error();
  if (result.error.empty()) result.project = std::move(project);
  return result;
}

}  // namespace kvbudget
