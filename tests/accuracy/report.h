// How far figures of ours are from measured ones: one Comparison per term, printed as a table.
//
// Errors are averaged per model first, so that nine runs of one model do not outvote a model that
// ran once.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kvbudget::test {

struct Sample {
  std::string id;
  std::string model;
  double truth = 0.0;
  double ours = 0.0;
  std::optional<std::pair<double, double>> interval;  ///< low, high
  double rounding = 0.0;  ///< of the logged figure: half a step either way

  double error() const;  ///< signed, a share of the truth
  bool covered() const;  ///< the interval holds the truth, within its rounding
};

class Comparison {
 public:
  explicit Comparison(std::string term) : term_(std::move(term)) {}
  void add(Sample sample) { samples_.push_back(std::move(sample)); }

  const std::string& term() const { return term_; }
  const std::vector<Sample>& samples() const { return samples_; }
  size_t rows() const { return samples_.size(); }
  size_t models() const;
  double mean_error() const;  ///< mean absolute error, per model first
  const Sample* worst() const;
  std::optional<double> coverage() const;      ///< share of intervals that hold the truth
  std::optional<double> median_width() const;  ///< high - low
  void print() const;
  void print_rows() const;

 private:
  std::string term_;
  std::vector<Sample> samples_;
};

void print_header(const std::string& title);

/// One line of a Markdown table; the header is `markdown_header`.
std::string markdown_row(const Comparison& comparison);
std::string markdown_header();

}  // namespace kvbudget::test
