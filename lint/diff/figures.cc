// The figures of an estimate in the order in which they are shown.
#include "lint/diff/compare.h"

namespace kvbudget {
namespace {

using memory::Capacity;
using memory::Estimate;
using Range = std::optional<Interval3>;

template <typename Number>
Interval3 all_three(Number low, Number best, Number high) {
  return {static_cast<double>(low), static_cast<double>(best), static_cast<double>(high)};
}

template <auto Member>
Range of_capacity(const Estimate& e) {
  return all_three(e.low.*Member, e.best.*Member, e.high.*Member);
}

Range example_concurrency(const Estimate& e) {
  if (!e.best.example_concurrency) return std::nullopt;
  const double best = *e.best.example_concurrency;
  return Interval3{e.low.example_concurrency.value_or(0.0), best,
                   e.high.example_concurrency.value_or(best)};
}

Range available(const Estimate& e) {
  return all_three(e.available.low, e.available.best, e.available.high);
}

Range term(const Estimate& e, std::string_view name) {
  const memory::Term* found = e.term(name);
  if (found == nullptr) return std::nullopt;
  return all_three(found->bytes.low, found->bytes.best, found->bytes.high);
}

template <auto Member>
Range exact(const Estimate& e) {
  return all_three(e.*Member, e.*Member, e.*Member);
}

using Unit = Figure::Unit;

constexpr Figure kFigures[] = {
    {"tokens", "KV tokens", true, Unit::kCount, true, of_capacity<&Capacity::tokens>},
    {"max_concurrency", "concurrency at max-model-len", false, Unit::kRequests, true,
     of_capacity<&Capacity::max_concurrency>},
    {"concurrency_8k", "concurrency at 8k", false, Unit::kRequests, true, example_concurrency},
    {"longest_context", "longest context", false, Unit::kCount, true,
     of_capacity<&Capacity::longest_context>},
    {"max_model_len", "max-model-len in force", false, Unit::kCount, false,
     exact<&Estimate::max_model_len>},
    {"bytes_per_token", "KV bytes per token", true, Unit::kCount, false,
     exact<&Estimate::bytes_per_token>},
    {"available_bytes", "KV cache", false, Unit::kGib, false, available},
    {"weights", "weights", true, Unit::kGib, false,
     [](const Estimate& e) { return term(e, "weights"); }},
    {"activation", "activation", false, Unit::kGib, false,
     [](const Estimate& e) { return term(e, "activation"); }},
    {"non_torch", "non-torch memory", false, Unit::kGib, false,
     [](const Estimate& e) { return term(e, "non_torch"); }},
    {"cuda_graphs", "CUDA graphs", true, Unit::kGib, false,
     [](const Estimate& e) { return term(e, "cuda_graphs"); }},
};

}  // namespace

std::span<const Figure> figures() { return kFigures; }

std::optional<double> FigureChange::percent() const {
  if (!base || !head || base->best <= 0.0) return std::nullopt;
  return (head->best - base->best) / base->best * 100.0;
}

}  // namespace kvbudget
