// What the writers for people share: numbers and counts in words.
#include <algorithm>
#include <string_view>
#include <vector>

#include "lint/diff/writers.h"
#include "lint/memory/format.h"

namespace kvbudget {
namespace {

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;

std::string number_text(double value, Figure::Unit unit, int decimals) {
  switch (unit) {
    case Figure::Unit::kCount:
      return memory::with_commas(static_cast<uint64_t>(value));
    case Figure::Unit::kRequests:
      return memory::decimal_text(value, decimals);
    case Figure::Unit::kGib:
      if (decimals == 2) return memory::gib_text(static_cast<int64_t>(value));
      return memory::decimal_text(value / kBytesPerGib, decimals) + " GiB";
  }
  return "";
}

// "14.99 GiB (14.50 GiB to 15.60 GiB)" where only the ends differ.
std::string range_text(const Interval3& value, Figure::Unit unit, int decimals) {
  return number_text(value.best, unit, decimals) + " (" + number_text(value.low, unit, decimals) +
         " to " + number_text(value.high, unit, decimals) + ")";
}

std::string counted(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string side_name(const ComparedSide& side) {
  constexpr size_t kIdDigits = 12;
  return side.name == side.commit ? side.name.substr(0, kIdDigits) : side.name;
}

std::string deployment_name(const Deployment& deployment) {
  return deployment.start.name.empty() ? deployment.start.kind : deployment.start.name;
}

std::pair<std::string, std::string> figure_texts(const FigureChange& change) {
  const Figure::Unit unit = change.figure->unit;
  const bool ends_only = change.ends_only();
  std::pair<std::string, std::string> texts;
  for (const int decimals : {unit == Figure::Unit::kRequests ? 1 : 2, 2, 4, 9}) {
    const auto text = [&](const std::optional<Interval3>& value) -> std::string {
      if (!value) return "-";
      return ends_only ? range_text(*value, unit, decimals)
                       : number_text(value->best, unit, decimals);
    };
    texts = {text(change.base), text(change.head)};
    if (texts.first != texts.second) break;
  }
  return texts;
}

std::vector<const FigureChange*> figures_for_people(const DeploymentChange& change) {
  const auto& settings = change.settings;
  const bool length_is_said =
      std::any_of(settings.begin(), settings.end(),
                  [](const SettingChange& setting) { return setting.name == "max-model-len"; });
  std::vector<const FigureChange*> result;
  for (const FigureChange& figure : change.figures) {
    if (length_is_said && figure.figure->name == "max_model_len") continue;
    result.push_back(&figure);
  }
  return result;
}

std::string percent_text(const FigureChange& change) {
  const std::optional<double> percent = change.percent();
  if (!percent || *percent == 0.0) return "";
  return (*percent > 0 ? "+" : "") + memory::decimal_text(*percent, 1) + " %";
}

std::string diff_summary(const DiffReport& report) {
  size_t changed = 0, added = 0, removed = 0, losing = 0;
  for (const DeploymentChange& change : report.changes) {
    (change.base == nullptr ? added : change.head == nullptr ? removed : changed) += 1;
    losing += change.losses.empty() ? 0 : 1;
  }
  std::vector<std::string> parts;
  if (changed > 0) parts.push_back(counted(changed, "deployment") + " changed");
  if (added > 0) parts.push_back(counted(added, "deployment") + " added");
  if (removed > 0) parts.push_back(counted(removed, "deployment") + " removed");
  if (losing > 0) parts.push_back(counted(losing, "deployment") + " with a loss");
  if (report.count_new() > 0) parts.push_back(counted(report.count_new(), "new finding"));
  if (report.count_gone() > 0) parts.push_back(counted(report.count_gone(), "finding") + " gone");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string loss_text(const Loss& loss) {
  if (!loss.percent) return "the " + loss.what + " gets worse";
  return loss.what + " -" + memory::decimal_text(*loss.percent, 1) + " %";
}

}  // namespace kvbudget
