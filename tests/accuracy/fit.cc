#include "tests/accuracy/fit.h"

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "lint/memory/activation.h"
#include "lint/memory/bytes.h"
#include "lint/memory/overheads.h"

namespace kvbudget::test {
namespace {

using memory::Fitted;
using memory::gib;

// Means per model, then over models.
class ModelMean {
 public:
  void add(const std::string& model, double value) {
    auto& [sum, count] = models_[model];
    sum += value;
    count += 1.0;
  }
  double value() const {
    double sum = 0.0;
    for (const auto& [model, entry] : models_) sum += entry.first / entry.second;
    return models_.empty() ? 0.0 : sum / static_cast<double>(models_.size());
  }

 private:
  std::map<std::string, std::pair<double, double>> models_;
};

// Normal equations of a linear model with N coefficients, each row weighted by 1 / truth.
template <size_t N>
class LeastSquares {
 public:
  /// `rest` of `truth` is what the features are to account for.
  void add(const std::array<double, N>& features, double rest, double truth) {
    for (size_t i = 0; i < N; ++i) {
      for (size_t j = 0; j < N; ++j) {
        rows_[i][j] += features[i] * features[j] / (truth * truth);
      }
      rows_[i][N] += features[i] * rest / (truth * truth);
    }
  }

  std::array<double, N> solve() {
    for (size_t column = 0; column < N; ++column) eliminate(column);
    std::array<double, N> result{};
    for (size_t i = 0; i < N; ++i) {
      result[i] = rows_[i][i] == 0.0 ? 0.0 : rows_[i][N] / rows_[i][i];
    }
    return result;
  }

 private:
  void eliminate(size_t column) {
    size_t pivot = column;
    for (size_t i = column; i < N; ++i) {
      if (std::fabs(rows_[i][column]) > std::fabs(rows_[pivot][column])) pivot = i;
    }
    std::swap(rows_[column], rows_[pivot]);
    if (rows_[column][column] == 0.0) return;
    for (size_t i = 0; i < N; ++i) {
      if (i == column) continue;
      const double factor = rows_[i][column] / rows_[column][column];
      for (size_t j = 0; j <= N; ++j) rows_[i][j] -= factor * rows_[column][j];
    }
  }

  std::array<std::array<double, N + 1>, N> rows_{};
};

constexpr std::array kGraphFigures = {&Fitted::graph_first_gib, &Fitted::graph_layer_gib,
                                      &Fitted::graph_mlp_gib, &Fitted::graph_experts_gib};

Fitted nothing() {
  Fitted fitted;
  fitted.activation_mib = 0.0;
  for (double Fitted::*figure : kGraphFigures) fitted.*figure = 0.0;
  return fitted;
}

double pool_gib(const Deployment& d, const Fitted& fitted) {
  return gib(memory::cuda_graph_bytes(*d.shape, d.engine, d.card(), fitted).best);
}

// The pool is linear in its figures: each one's share is what it adds to what is not fitted.
std::array<double, kGraphFigures.size()> graph_features(const Deployment& d) {
  std::array<double, kGraphFigures.size()> features{};
  const double known = pool_gib(d, nothing());
  for (size_t i = 0; i < features.size(); ++i) {
    Fitted one = nothing();
    one.*kGraphFigures[i] = 1.0;
    features[i] = pool_gib(d, one) - known;
  }
  return features;
}

}  // namespace

Fitted fit(const Runs& runs, const std::string& without_model) {
  LeastSquares<kGraphFigures.size()> graphs;
  ModelMean activation, single, group;
  for (const JudgedRun* judged : runs) {
    const ObservedRun& run = judged->run;
    const Deployment& d = judged->deployment;
    if (run.model == without_model || !run.usable("activation")) continue;
    if (run.activation_gib && d.engine.pipeline_parallel == 1) {
      const auto peak = memory::activation_peak(*d.shape, d.engine, d.card(), 0, nothing());
      activation.add(run.model, *run.activation_gib - gib(peak.best));
    }
    if (run.non_torch_gib && d.engine.pipeline_parallel == 1) {
      const auto bytes = memory::non_torch_bytes(*d.shape, d.engine, d.card(), nothing());
      (d.engine.tensor_parallel > 1 ? group : single)
          .add(run.model, *run.non_torch_gib - gib(bytes.best));
    }
    if (run.graph_gib && *run.graph_gib > 0.0) {
      graphs.add(graph_features(d), *run.graph_gib - pool_gib(d, nothing()), *run.graph_gib);
    }
  }
  Fitted fitted;
  constexpr double kMibPerGib = 1024.0;
  fitted.activation_mib = std::max(0.0, activation.value() * kMibPerGib);
  fitted.non_torch_shift_gib = single.value();
  fitted.non_torch_group_shift_gib = group.value();
  const auto figures = graphs.solve();
  for (size_t i = 0; i < figures.size(); ++i) fitted.*kGraphFigures[i] = figures[i];
  return fitted;
}

}  // namespace kvbudget::test
