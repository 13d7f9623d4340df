#include "lint/models/multimodal.h"

#include "lint/models/encoder_inputs.h"
#include "lint/models/sizes.h"
#include "lint/models/wrapper.h"

namespace kvbudget::models {

using memory::Encoder;
using memory::ModelShape;
using memory::Place;
using memory::Split;

namespace {

constexpr uint64_t kMaxCopies = 1u << 16;
// InternLM2 with a second MLP for images, under the model type of the plain one.
constexpr std::string_view kOtherExperts = "InternLM2VEForCausalLM";

// "a|b": the first that is an object; "a.b": one below the other.
std::optional<Config> part_of(const Config& root, std::string_view paths) {
  std::optional<Config> found;
  any_part(paths, '|', [&](std::string_view path) {
    found = root;
    any_part(path, '.', [&](std::string_view key) {
      found = found->nested(key);
      return !found;
    });
    return found.has_value();
  });
  return found;
}

// DeepSeek-VL2 states its model type alone.
std::string name_of(const Config& root, std::string_view architecture) {
  return architecture.empty() ? root.text("model_type") : std::string(architecture);
}

std::string kind_of(const Config& root, const Config& part, const TowerUse& use) {
  if (!use.tower.empty()) return std::string(use.tower);
  const size_t dot = use.kind.rfind('.');
  const std::optional<Config> holder =
      dot == std::string_view::npos ? part : part_of(part, use.kind.substr(0, dot));
  std::string kind = holder ? holder->text(use.kind.substr(dot + 1)) : "";
  // Older configs do not repeat what the root says.
  return kind.empty() ? root.text("model_type") : kind;
}

std::string_view next_token(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const size_t end = text.find(' ');
  const std::string_view token = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  return token;
}

void add_tensor(std::string_view text, Encoder encoder, const Sizes& sizes, const Config& part,
                WeightList& list) {
  const std::string_view name = next_token(text);
  std::string_view split = next_token(text);
  const uint64_t copies = sizes.whole(next_token(text), part);
  const uint64_t rows = sizes.whole(next_token(text), part);
  const uint64_t columns = sizes.whole(next_token(text), part);
  if (copies > kMaxCopies) part.fail("the encoder has too many layers");
  if (part.failed() || copies == 0 || rows == 0 || columns == 0) return;
  const Split how = split[0] == 'R'   ? Split::kRows
                    : split[0] == 'C' ? Split::kColumns
                                      : Split::kNone;
  const uint64_t heads = split.size() > 2 ? sizes.whole(split.substr(2), part) : 0;
  list.encoder(encoder, name, rows, columns, how, copies, heads);
}

void add_tower(const Config& root, const Config& part, const TowerUse& use, Encoder encoder,
               const ModelShape& shape, WeightList& list) {
  const std::string kind = kind_of(root, part, use);
  const Tower* tower = find_tower(kind);
  if (tower == nullptr) {
    return root.fail("key '" + std::string(use.part) + "': the encoder '" + kind +
                     "' is not understood");
  }
  Sizes sizes;
  sizes.set('o', static_cast<double>(shape.hidden_size));
  sizes.read(tower->sizes, part, root);
  sizes.read(use.sizes, part, root);
  for (const std::string_view texts : {tower->blocks, tower->rest, tower->more, use.projector}) {
    any_part(texts, ';', [&](std::string_view text) {
      add_tensor(text, encoder, sizes, part, list);
      return part.failed();
    });
  }
}

}  // namespace

std::optional<TextPart> find_text_part(const Config& root, std::string_view architecture) {
  const Wrapper* wrapper = find_wrapper(root, name_of(root, architecture));
  if (wrapper == nullptr) return std::nullopt;
  const auto nested = part_of(root, wrapper->text);
  TextPart part{nested.value_or(root), find_family(wrapper->decoder, ""),
                std::string(wrapper->decoder)};
  if (part.family != nullptr) return part;
  part.name.clear();
  if (nested) {
    const std::vector<std::string> names = nested->texts("architectures");
    if (!names.empty()) part.name = names.front();
    part.family = part.name.empty() ? nullptr : find_family(part.name, "");
    if (part.family != nullptr) return part;
    // Some parts keep the name of a training-time class; their model type decides.
    const std::string type = nested->text("model_type");
    if (!type.empty() && part.name != kOtherExperts) {
      part.name = type;
      part.family = find_family("", type);
      return part;
    }
  }
  if (part.name == kOtherExperts) return part;
  part.name = std::string(wrapper->decoder);
  part.family = find_family("", wrapper->decoder);
  return part;
}

void add_towers(const Config& root, ModelShape& shape, WeightList& list) {
  const Wrapper* wrapper = find_wrapper(root, name_of(root, shape.architecture));
  if (wrapper == nullptr) return;
  const Json nothing = Json::object();
  std::string ignored;
  bool hears = false;
  for (const TowerUse* use : {&wrapper->vision, &wrapper->audio}) {
    if (!use->exists()) continue;
    std::optional<Config> part = use->part.empty() ? root : part_of(root, use->part);
    if (!part && wrapper->usual_towers) part = Config(nothing, ignored);
    const bool audio = use == &wrapper->audio;
    const bool optional = audio && wrapper->vision.exists();
    if (part) {
      add_tower(root, *part, *use, audio ? Encoder::kAudio : Encoder::kVision, shape, list);
      hears = hears || audio;
    } else if (!optional) {
      root.fail("key '" + std::string(use->part) + "' is missing");
    }
  }
  shape.vision_inputs = vision_inputs(shape.architecture);
  if (hears) shape.audio_inputs = audio_inputs(shape.architecture);
  shape.whole_encoders = may_hold_whole_encoders(shape.architecture);
}

}  // namespace kvbudget::models
