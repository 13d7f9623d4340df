// Go templates (text/template) end every block with `end`, Jinja with `endif` and `endfor`.

#include "lint/read/template_branches.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "lint/read/text.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {
namespace {

/// The blocks of a template, and which of them is the innermost at each place.
class Blocks {
 public:
  explicit Blocks(std::string_view text) {
    std::vector<size_t> open;
    for (const ByteRange& action : template_actions(text)) {
      const std::string_view word =
          action_keyword(text.substr(action.begin, action.end - action.begin));
      if (is_one_of(word, {"if", "with", "range", "for", "define", "block"})) {
        steps_.push_back({action.begin, blocks_.size()});
        open.push_back(blocks_.size());
        blocks_.push_back({action.begin, static_cast<uint32_t>(text.size())});
      } else if (is_one_of(word, {"end", "endif", "endfor", "endwith", "endblock"}) &&
                 !open.empty()) {
        blocks_[open.back()].end = action.end;
        open.pop_back();
        steps_.push_back({action.end, open.empty() ? kNone : open.back()});
      }
    }
  }

  /// True when the innermost block around `offset` does not hold `other`; outer ones do not matter:
  /// what holds an inner block holds all that is in it.
  bool separate(uint32_t offset, uint32_t other) const {
    const auto behind =
        std::upper_bound(steps_.begin(), steps_.end(), offset,
                         [](uint32_t at, const Step& step) { return at < step.from; });
    if (behind == steps_.begin()) return false;
    const size_t index = std::prev(behind)->innermost;
    if (index == kNone) return false;
    return other < blocks_[index].begin || other >= blocks_[index].end;
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  struct Step {
    uint32_t from = 0;
    size_t innermost = kNone;
  };
  std::vector<ByteRange> blocks_;
  std::vector<Step> steps_;
};

}  // namespace

void mark_conditional_parts(const SourceFile& file, std::vector<EngineStart>& starts) {
  const Blocks blocks(file.bytes());
  for (EngineStart& start : starts) {
    const auto conditional = [&](const SourceText& text) {
      return blocks.separate(text.offset(0), start.where.range.begin);
    };
    for (Word& word : start.argv) word.known = word.known && !conditional(word.text);
    for (EnvVar& variable : start.env) {
      variable.known = variable.known && !conditional(variable.name);
    }
    for (ConfigKey& key : start.config) key.known = key.known && !conditional(key.key);
    if (start.image && conditional(*start.image)) start.image_known = false;
    const auto drop = [&](auto& number) {
      const bool elsewhere = number && number->where.file == &file;
      if (elsewhere && blocks.separate(number->where.range.begin, start.where.range.begin)) {
        number.reset();
      }
    };
    drop(start.gpu.name);
    drop(start.gpu.count);
    drop(start.replicas);
    drop(start.nodes);
  }
}

}  // namespace kvbudget
