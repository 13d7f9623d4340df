// What was understood of each engine start, and where each value came from: the place to look when
// a finding surprises.
#include <algorithm>
#include <ostream>
#include <string>

#include "lint/memory/bytes.h"
#include "lint/report/columns.h"
#include "lint/report/effective.h"
#include "lint/report/json.h"
#include "lint/report/report.h"
#include "lint/report/shown.h"
#include "lint/report/snippet.h"

namespace kvbudget {

namespace {

Json shown_json(std::string_view name, std::string_view value, bool known) {
  return known ? Json(std::string(shown_value(name, value, known))) : Json();
}

Json settings_json(const Deployment& deployment) {
  Json settings = Json::object();
  for (const auto& [name, setting] : effective_settings(deployment)) {
    Json json = {{"value", shown_json(name, setting.value, setting.known)}};
    if (setting.where && setting.where.file != deployment.start.file) {
      json["file"] = setting.where.file->path();
    }
    add_position(json, setting.where);
    json["origin"] = origin_name(setting.origin);
    settings[name] = std::move(json);
  }
  return settings;
}

Json env_json(const EngineStart& start) {
  Json env = Json::object();
  for (const EnvVar& variable : start.env) {
    const std::string& name = variable.name.str();
    env[name] = shown_json(name, variable.value.view(), variable.known);
  }
  return env;
}

Json gpu_json(const Deployment& deployment) {
  const auto& written = deployment.start.gpu.name;
  if (!deployment.gpu && !written && deployment.gpu_count == 0) return nullptr;
  Json json = Json::object();
  json["name"] = deployment.gpu ? Json(deployment.gpu->name)
                 : written      ? Json(written->value)
                                : Json();
  json["count"] = count_or_null(deployment.gpu_count);
  json["memory_bytes"] = deployment.gpu ? Json(deployment.gpu->memory_bytes) : Json();
  return json;
}

}  // namespace

Json deployment_json(const Deployment& deployment) {
  const EngineStart& start = deployment.start;
  Json json = {{"file", start.file == nullptr ? Json() : Json(start.file->path())}};
  add_position(json, start.where);
  json.erase("column");
  json["kind"] = start.kind;
  json["name"] = start.name;
  json["engine"] = {
      {"name", "vllm"},
      {"version", deployment.version_assumed ? Json() : Json(deployment.version.str())},
      {"assumed_version", deployment.version_assumed ? Json(deployment.version.str()) : Json()},
      {"image", start.image ? Json(start.image->str()) : Json()}};
  json["model"] = text_or_null(deployment.model);
  json["gpu"] = gpu_json(deployment);
  json["nodes"] = start.nodes ? Json(start.nodes->value) : Json();
  json["replicas"] = start.replicas ? Json(start.replicas->value) : Json();
  json["settings"] = settings_json(deployment);
  json["env"] = env_json(start);
  json["unknown_flags"] = Json::array();
  for (const UnknownFlag& flag : deployment.settings.unknown_flags) {
    json["unknown_flags"].push_back(flag.text.substr(0, flag.text.find('=')));
  }
  json["missing"] = Json::array();
  for (const MissingInput& input : deployment.missing) json["missing"].push_back(input.what);
  return json;
}

void write_inspect_json(const std::vector<Deployment>& deployments, std::ostream& out) {
  Json json = {{"schema", kJsonSchema}, {"deployments", Json::array()}};
  for (const Deployment& deployment : deployments) {
    json["deployments"].push_back(deployment_json(deployment));
  }
  print_json(json, out);
}

namespace {

void write_place(const Location& where, std::ostream& out) {
  if (!where) return;
  const Position at = where.file->position(where.range.begin);
  out << where.file->path() << ':' << at.line << ':' << at.column;
}

void write_field(std::string_view name, std::string_view value, std::ostream& out) {
  out << "  " << padded(name, 10) << printable(value) << '\n';
}

std::string version_text(const Deployment& deployment) {
  const std::string version = "vllm " + deployment.version.str();
  return deployment.version_assumed ? version + " (assumed, no version given)" : version;
}

std::string gpu_text(const Deployment& deployment) {
  if (!deployment.gpu) {
    const auto& written = deployment.start.gpu.name;
    return written ? "unknown card '" + written->value + "'" : "not known";
  }
  std::string text;
  if (deployment.gpu_count > 0) text = std::to_string(deployment.gpu_count) + " x ";
  return text + deployment.gpu->name;
}

void write_settings(const Deployment& deployment, std::ostream& out) {
  const auto settings = effective_settings(deployment);
  size_t name_width = 0;
  for (const auto& entry : settings) name_width = std::max(name_width, entry.first.size());
  for (const auto& [name, setting] : settings) {
    const std::string value = printable(shown_value(name, setting.value, setting.known));
    out << "    " << padded(name, name_width + 2) << padded(value, 24) << ' '
        << origin_name(setting.origin);
    if (setting.where) out << ' ';
    write_place(setting.where, out);
    out << '\n';
  }
}

void write_deployment(const Deployment& deployment, std::ostream& out) {
  const EngineStart& start = deployment.start;
  write_place(start.where, out);
  out << (start.where ? ": " : "") << start.kind;
  if (!start.name.empty()) out << ", " << printable(start.name);
  out << '\n';
  write_field("engine", version_text(deployment), out);
  if (start.image) write_field("image", start.image->view(), out);
  write_field("model", deployment.model.empty() ? "not known" : deployment.model, out);
  write_field("gpu", gpu_text(deployment), out);
  if (start.nodes) write_field("nodes", std::to_string(start.nodes->value), out);
  if (start.replicas) write_field("replicas", std::to_string(start.replicas->value), out);
  out << "  settings\n";
  write_settings(deployment, out);
  for (const EnvVar& variable : start.env) {
    const std::string_view value =
        shown_value(variable.name.view(), variable.value.view(), variable.known);
    write_field("env", variable.name.str() + "=" + std::string(value), out);
  }
  for (const UnknownFlag& flag : deployment.settings.unknown_flags) {
    write_field("unknown", flag.text.substr(0, flag.text.find('=')), out);
  }
  for (const MissingInput& input : deployment.missing) {
    write_field("missing", input.what + ": " + input.detail + " (" + input.hint + ")", out);
  }
}

}  // namespace

void write_inspect_text(const std::vector<Deployment>& deployments, std::ostream& out) {
  bool first = true;
  for (const Deployment& deployment : deployments) {
    if (!first) out << '\n';
    first = false;
    write_deployment(deployment, out);
  }
}

}  // namespace kvbudget
