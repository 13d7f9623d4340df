#include "lint/engine/flags.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lint/engine/json_text.h"
#include "lint/engine/nearest.h"
#include "lint/engine/numbers.h"
#include "lint/engine/table.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

enum Column {
  kName,
  kSince,
  kRemoved,
  kKinds,
  kAliases,
  kOpposite,
  kDefaults,
  kChoices,
  kReplacement,
  kScope,
  kNumColumns
};

FlagKind parse_kind(std::string_view text) {
  struct Name {
    std::string_view text;
    FlagType type;
    FlagForm form;
  };
  static constexpr std::array kNames = {
      Name{"switch", FlagType::kBool, FlagForm::kSwitch},
      Name{"two-way", FlagType::kBool, FlagForm::kTwoWay},
      Name{"bool-value", FlagType::kBool, FlagForm::kBoolValue},
      Name{"int", FlagType::kInt, FlagForm::kValue},
      Name{"float", FlagType::kFloat, FlagForm::kValue},
      Name{"str", FlagType::kString, FlagForm::kValue},
      Name{"optional-str", FlagType::kString, FlagForm::kOptionalValue},
      Name{"enum", FlagType::kEnum, FlagForm::kValue},
      Name{"json", FlagType::kJson, FlagForm::kValue},
      Name{"json-or-str", FlagType::kJsonOrString, FlagForm::kValue},
      Name{"kv-list", FlagType::kKeyValueList, FlagForm::kValue},
      Name{"human-int", FlagType::kHumanInt, FlagForm::kValue},
      Name{"human-int-auto", FlagType::kHumanIntAuto, FlagForm::kValue},
      Name{"words", FlagType::kList, FlagForm::kWords},
      Name{"words-int", FlagType::kList, FlagForm::kWords},
      Name{"repeat", FlagType::kList, FlagForm::kRepeat},
      Name{"comma", FlagType::kList, FlagForm::kValue},
  };
  FlagKind kind;
  kind.nullable = text.ends_with('?');
  if (kind.nullable) text.remove_suffix(1);
  for (const Name& name : kNames) {
    if (name.text != text) continue;
    kind.type = name.type;
    kind.form = name.form;
  }
  return kind;
}

FlagAlias parse_alias(std::string_view text) {
  FlagAlias alias;
  const size_t at = text.find('@');
  alias.text = text.substr(0, at);
  if (at == std::string_view::npos) return alias;
  const std::string_view range = text.substr(at + 1);
  const size_t dash = range.find('-');
  alias.since = parse_version(range.substr(0, dash));
  if (dash != std::string_view::npos) alias.removed = parse_version(range.substr(dash + 1));
  return alias;
}

Flag parse_flag(const TableRow& row) {
  Flag flag;
  flag.name = row[kName];
  flag.since = parse_version(row[kSince]);
  flag.removed = parse_version(row[kRemoved]);
  flag.kinds = row[kKinds];
  for (const std::string_view alias : split(row[kAliases], ' ')) {
    flag.aliases.push_back(parse_alias(alias));
  }
  flag.opposite = row[kOpposite];
  flag.defaults = row[kDefaults];
  flag.choices = row[kChoices];
  flag.replacement = row[kReplacement];
  flag.api_server_only = row[kScope] == "api-server";
  flag.batch_only = row[kScope] == "batch";
  if (row[kScope].starts_with("serve<")) {
    flag.serve_only_until = parse_version(row[kScope].substr(6));
  }
  const FlagKind last = parse_kind(read_history(flag.kinds).back().value);
  flag.type = last.type;
  flag.negatable = last.form == FlagForm::kTwoWay;
  return flag;
}

const std::vector<Flag>& flag_table() {
  static const std::vector<Flag> flags = [] {
    std::vector<Flag> parsed;
    const std::vector<TableRow> rows = read_engine_table("flags.tsv", kNumColumns);
    parsed.reserve(rows.size());
    for (const TableRow& row : rows) parsed.push_back(parse_flag(row));
    return parsed;
  }();
  return flags;
}

const Flag* flag_of_other_server(std::string_view name) {
  static const std::vector<TableRow> rows = read_engine_table("other_servers.tsv", 3);
  for (const TableRow& row : rows) {
    if (row[0] == name) return find_flag(row[1]);
  }
  return nullptr;
}

}  // namespace

std::span<const Flag> all_flags() { return flag_table(); }

const Flag* find_flag(std::string_view name) {
  const std::string wanted = name.starts_with('-') ? std::string(name) : with_dashes(name);
  const std::vector<Flag>& flags = flag_table();
  const auto found =
      std::lower_bound(flags.begin(), flags.end(), wanted,
                       [](const Flag& flag, const std::string& text) { return flag.name < text; });
  if (found != flags.end() && found->name == wanted) return &*found;
  for (const Flag& flag : flags) {
    if (flag.opposite == wanted) return &flag;
    for (const FlagAlias& alias : flag.aliases) {
      if (alias.text == wanted || alias.text == "--" + wanted) return &flag;
    }
  }
  return nullptr;
}

bool flag_exists(const Flag& flag, Version version) {
  return (!flag.since || *flag.since <= version) && (!flag.removed || version < *flag.removed);
}

FlagKind flag_kind(const Flag& flag, Version version) {
  return parse_kind(value_at(flag.kinds, version));
}

std::string_view flag_default(const Flag& flag, Version version) {
  const std::string_view value = value_at(flag.defaults, version);
  const bool off = value == "false" && flag_kind(flag, version).is_switch();
  return value == "null" || off ? std::string_view() : value;
}

std::vector<std::string_view> flag_choices(const Flag& flag, Version version) {
  const FlagType type = flag_kind(flag, version).type;
  if (type != FlagType::kEnum && type != FlagType::kList) return {};
  std::vector<std::string_view> choices;
  for (const DatedValue& change : read_history(flag.choices)) {
    if (change.since && version < *change.since) break;
    for (const std::string_view piece : split(change.value, ',')) {
      if (change.since && piece.front() == '-') {
        std::erase(choices, piece.substr(1));
      } else {
        choices.push_back(change.since ? piece.substr(1) : piece);
      }
    }
  }
  return choices;
}

std::string value_problem(const Flag& flag, Version version, std::string_view value) {
  const FlagKind kind = flag_kind(flag, version);
  if (kind.nullable && (value == "None" || value.empty())) return "";
  switch (kind.type) {
    case FlagType::kInt:
      return python_int(value) ? "" : "not an integer";
    case FlagType::kFloat:
      return python_float(value) ? "" : "not a number";
    case FlagType::kHumanInt:
    case FlagType::kHumanIntAuto:
      return human_int(value, kind.type, version) ? "" : "not a number of tokens";
    case FlagType::kJson:
      // A bare level number was an object's stand-in until 0.8 (--compilation-config 3).
      if (version < Version{0, 9, 0} && python_int(value)) return "";
      return is_json(value) ? "" : "not JSON";
    case FlagType::kEnum: {
      const std::vector<std::string_view> choices = flag_choices(flag, version);
      const bool listed = std::find(choices.begin(), choices.end(), value) != choices.end();
      return choices.empty() || listed ? "" : "not one of the values of this release";
    }
    default:
      return "";
  }
}

const Flag* flag_without_negative(std::string_view name, Version version) {
  constexpr std::string_view kNo = "no-";
  if (!name.starts_with(kNo) || find_flag(name) != nullptr) return nullptr;
  const Flag* const flag = find_flag(name.substr(kNo.size()));
  return flag != nullptr && flag_exists(*flag, version) ? flag : nullptr;
}

std::string nearest_flag(std::string_view name, Version version) {
  const std::string written = with_dashes(name);
  const Flag* const same = flag_of_other_server(written);
  if (same != nullptr && flag_exists(*same, version)) return same->name;
  // The table is sorted, so the first of equally near names is the alphabetical one.
  std::vector<std::string_view> names;
  for (const Flag& flag : flag_table()) {
    if (flag_exists(flag, version) && !flag.batch_only) names.push_back(flag.name);
  }
  return std::string(nearest(written, names));
}

Version newest_version() { return {0, 33, 0}; }

}  // namespace kvbudget
