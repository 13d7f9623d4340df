#include "lint/models/weights.h"

namespace kvbudget::models {

using memory::Place;
using memory::Split;
using memory::Weight;
using memory::WeightFormat;

namespace {

bool same_tensor(const Weight& a, const Weight& b) {
  return a.name == b.name && a.rows == b.rows && a.columns == b.columns && a.copies == b.copies &&
         a.separate_copies == b.separate_copies && a.format == b.format;
}

// Biases and norms of a row-parallel layer are whole on every rank.
Split bias_split(Split split) { return split == Split::kColumns ? Split::kNone : split; }

}  // namespace

WeightFormat WeightList::plain() const { return {.type = shape_.dtype}; }

Weight WeightList::layer_weight(std::string name) const {
  Weight weight;
  weight.name = part_ == 0 ? std::move(name) : name + "." + std::to_string(part_);
  weight.first_layer = layer_;
  weight.layer_count = 1;
  weight.format = plain();
  return weight;
}

void WeightList::add(std::vector<Weight> tensor) {
  std::vector<Weight>& all = shape_.weights;
  const auto last = last_.find(tensor.front().name);
  if (last != last_.end() && last->second + tensor.size() <= all.size()) {
    bool grows = true;
    for (size_t i = 0; i < tensor.size(); ++i) {
      const Weight& entry = all[last->second + i];
      grows =
          grows && same_tensor(entry, tensor[i]) && entry.first_layer + entry.layer_count == layer_;
    }
    if (grows) {
      for (size_t i = 0; i < tensor.size(); ++i) ++all[last->second + i].layer_count;
      return;
    }
  }
  last_[tensor.front().name] = all.size();
  for (Weight& part : tensor) all.push_back(std::move(part));
}

const WeightFormat* WeightList::format_of(std::string_view module, std::string_view part,
                                          bool expert) const {
  std::string path = path_;
  path += module;
  path += '.';
  path += part;
  return quantization_.format_of(path, expert);
}

void WeightList::linear(std::string_view module, std::initializer_list<Part> parts,
                        uint64_t columns, bool bias) {
  // The engine wants one format for a fused tensor, so one plain part makes all of it plain.
  const WeightFormat* format = format_of(module, parts.begin()->name, false);
  for (const Part& part : parts) {
    if (format != nullptr) format = format_of(module, part.name, false);
  }
  std::vector<Weight> matrix;
  std::vector<Weight> vector;
  for (const Part& part : parts) {
    if (part.rows == 0) continue;
    Weight weight = layer_weight(std::string(module) + "." + std::string(part.name));
    weight.rows = part.rows;
    weight.columns = columns;
    weight.split = part.split;
    weight.head_dim = part.head_dim;
    weight.linear = true;
    weight.fused_with_previous = !matrix.empty();
    if (format != nullptr) weight.format = *format;
    Weight one = weight;
    one.name += ".bias";
    one.columns = 1;
    one.split = bias_split(part.split);
    one.linear = false;
    one.format = plain();
    matrix.push_back(std::move(weight));
    vector.push_back(std::move(one));
  }
  if (matrix.empty()) return;  // no rows at all: a layer without this part
  add(std::move(matrix));
  if (bias) add(std::move(vector));
}

void WeightList::experts(std::string_view module, const Part& part, uint64_t columns,
                         uint64_t count, bool bias) {
  Weight weight = layer_weight(std::string(module) + "." + std::string(part.name));
  weight.rows = part.rows;
  weight.columns = columns;
  weight.copies = count;
  weight.split = part.split;
  weight.parts = part.parts;
  weight.expert = true;
  weight.linear = true;
  if (const WeightFormat* format = format_of(module, "0." + std::string(part.name), true)) {
    weight.format = *format;
  }
  Weight vector = weight;
  add({std::move(weight)});
  if (!bias) return;
  vector.name += ".bias";
  vector.columns = 1;
  vector.split = bias_split(part.split);
  vector.linear = false;
  vector.format = plain();
  add({std::move(vector)});
}

void WeightList::vectors(std::string_view name, uint64_t rows, uint64_t count) {
  Weight weight = layer_weight(std::string(name));
  weight.rows = rows;
  weight.separate_copies = count;
  add({std::move(weight)});
}

void WeightList::float_rows(std::string_view name, uint64_t rows, uint64_t columns) {
  Weight weight = layer_weight(std::string(name));
  weight.rows = rows;
  weight.columns = columns;
  weight.split = Split::kRows;
  weight.format = {.type = memory::ElementType::kFloat32, .fixed_type = true, .bits = 32};
  add({std::move(weight)});
}

void WeightList::derived(std::string_view name, uint64_t rows, uint64_t columns) {
  Weight weight = layer_weight(std::string(name));
  weight.rows = rows;
  weight.columns = columns;
  weight.split = Split::kRows;
  add({std::move(weight)});
}

void WeightList::float_matrix(std::string_view name, uint64_t rows, uint64_t columns) {
  Weight weight = layer_weight(std::string(name));
  weight.rows = rows;
  weight.columns = columns;
  weight.format = {.type = memory::ElementType::kFloat32, .fixed_type = true, .bits = 32};
  add({std::move(weight)});
}

void WeightList::router(std::string_view name, uint64_t rows, uint64_t columns) {
  Weight weight = layer_weight(std::string(name));
  weight.rows = rows;
  weight.columns = columns;
  add({std::move(weight)});
}

void WeightList::outer(std::string_view name, uint64_t rows, uint64_t columns, Split split,
                       Place place, bool may_be_quantized, uint64_t copies) {
  Weight weight;
  weight.name = name;
  weight.rows = rows;
  weight.columns = columns;
  weight.split = split;
  weight.place = place;
  weight.separate_copies = copies;
  weight.format = plain();
  const WeightFormat* format = may_be_quantized ? quantization_.format_of(name, false) : nullptr;
  if (format != nullptr) weight.format = *format;
  shape_.weights.push_back(std::move(weight));
}

void WeightList::encoder(memory::Encoder encoder, std::string_view name, uint64_t rows,
                         uint64_t columns, Split split, uint64_t copies, uint64_t heads) {
  outer(name, rows, columns, split, Place::kEveryStage, false, copies);
  shape_.weights.back().encoder = encoder;
  shape_.weights.back().heads = static_cast<uint32_t>(heads);
}

}  // namespace kvbudget::models
