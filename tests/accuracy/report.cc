#include "tests/accuracy/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace kvbudget::test {
namespace {

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string optional_text(const char* format, const std::optional<double>& value, double factor) {
  return value ? formatted(format, *value * factor) : "-";
}

std::map<std::string, std::vector<double>> errors_by_model(const std::vector<Sample>& samples) {
  std::map<std::string, std::vector<double>> result;
  for (const Sample& sample : samples) result[sample.model].push_back(std::fabs(sample.error()));
  return result;
}

double mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

}  // namespace

double Sample::error() const { return truth == 0.0 ? 0.0 : (ours - truth) / std::fabs(truth); }

bool Sample::covered() const {
  return interval && interval->first <= truth + rounding && truth - rounding <= interval->second;
}

size_t Comparison::models() const { return errors_by_model(samples_).size(); }

double Comparison::mean_error() const {
  std::vector<double> means;
  for (const auto& [model, errors] : errors_by_model(samples_)) means.push_back(mean(errors));
  return mean(means);
}

const Sample* Comparison::worst() const {
  const auto found = std::max_element(
      samples_.begin(), samples_.end(),
      [](const Sample& a, const Sample& b) { return std::fabs(a.error()) < std::fabs(b.error()); });
  return found == samples_.end() ? nullptr : &*found;
}

std::optional<double> Comparison::coverage() const {
  double held = 0.0;
  double intervals = 0.0;
  for (const Sample& sample : samples_) {
    if (!sample.interval) continue;
    intervals += 1.0;
    held += sample.covered() ? 1.0 : 0.0;
  }
  return intervals == 0.0 ? std::nullopt : std::optional(held / intervals);
}

std::optional<double> Comparison::median_width() const {
  std::vector<double> widths;
  for (const Sample& sample : samples_) {
    if (sample.interval) widths.push_back(sample.interval->second - sample.interval->first);
  }
  if (widths.empty()) return std::nullopt;
  std::nth_element(widths.begin(), widths.begin() + static_cast<long>(widths.size() / 2),
                   widths.end());
  return widths[widths.size() / 2];
}

void print_header(const std::string& title) {
  std::printf("\n%s\n%-24s %5s %7s %8s %8s %8s  %s\n", title.c_str(), "term", "rows", "models",
              "error %", "held %", "width", "worst row");
}

void Comparison::print() const {
  const Sample* const far = worst();
  if (far == nullptr) return;
  std::printf("%-24s %5zu %7zu %8.3f %8s %8s  %s (%.2f for %.2f, %+.2f %%)\n", term_.c_str(),
              rows(), models(), 100 * mean_error(), optional_text("%.1f", coverage(), 100).c_str(),
              optional_text("%.3f", median_width(), 1).c_str(), far->id.c_str(), far->ours,
              far->truth, 100 * far->error());
}

void Comparison::print_rows() const {
  for (const Sample& sample : samples_) {
    std::printf("    %-58s %10.3f for %10.3f %+8.2f %%", sample.id.c_str(), sample.ours,
                sample.truth, 100 * sample.error());
    if (sample.interval) {
      std::printf("  [%.3f, %.3f]%s", sample.interval->first, sample.interval->second,
                  sample.covered() ? "" : " OUTSIDE");
    }
    std::printf("\n");
  }
}

std::string markdown_header() {
  return "| term | rows | models | mean error | interval holds | median width | worst row |\n"
         "|---|--:|--:|--:|--:|--:|---|\n";
}

std::string markdown_row(const Comparison& c) {
  const Sample* const far = c.worst();
  if (far == nullptr) return "";
  return "| " + c.term() + " | " + std::to_string(c.rows()) + " | " + std::to_string(c.models()) +
         " | " + formatted("%.2f %%", 100 * c.mean_error()) + " | " +
         optional_text("%.0f %%", c.coverage(), 100) + " | " +
         optional_text("%.2f", c.median_width(), 1) + " | " + far->id + " (" +
         formatted("%+.1f %%", 100 * far->error()) + ") |\n";
}

}  // namespace kvbudget::test
