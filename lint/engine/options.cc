#include "lint/engine/options.h"

#include <algorithm>

namespace kvbudget {
namespace {

constexpr Version kOppositeNames{0, 33, 0};

bool by_text(const Option& option, std::string_view text) { return option.text < text; }

}  // namespace

// NOTE: `run-batch` has few of the server's own options before 0.17; all of them are taken for its
// own, so that no option is called unknown that some release of it has.
OptionTable::OptionTable(Version version, bool serve, EngineUse use) {
  options_.reserve(2 * all_flags().size());
  for (const Flag& flag : all_flags()) {
    if (!flag_exists(flag, version)) continue;
    const bool serve_only = flag.serve_only_until && version < *flag.serve_only_until;
    if (serve ? flag.api_server_only : serve_only) continue;
    if (flag.batch_only && use != EngineUse::kBatch) continue;
    add(flag, version);
  }
  std::sort(options_.begin(), options_.end(),
            [](const Option& a, const Option& b) { return a.text < b.text; });
}

void OptionTable::add(const Flag& flag, Version version) {
  options_.push_back({"--" + flag.name, &flag, false});
  if (flag_kind(flag, version).form == FlagForm::kTwoWay) {
    options_.push_back({"--no-" + flag.name, &flag, true});
    if (!flag.opposite.empty() && version >= kOppositeNames) {
      options_.push_back({"--" + flag.opposite, &flag, true});
    }
  }
  for (const FlagAlias& alias : flag.aliases) {
    if (alias.since && version < *alias.since) continue;
    if (alias.removed && version >= *alias.removed) continue;
    options_.push_back({alias.text, &flag, false});
  }
}

const Option* OptionTable::find(std::string_view text) const {
  const auto found = std::lower_bound(options_.begin(), options_.end(), text, by_text);
  return found != options_.end() && found->text == text ? &*found : nullptr;
}

std::span<const Option> OptionTable::with_prefix(std::string_view text) const {
  const auto begin = std::lower_bound(options_.begin(), options_.end(), text, by_text);
  auto end = begin;
  while (end != options_.end() && end->text.starts_with(text)) ++end;
  return {begin, end};
}

}  // namespace kvbudget
