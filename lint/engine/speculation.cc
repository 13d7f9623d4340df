// Methods are found out as in SpeculativeConfig.__post_init__ (vllm/config/speculative.py, 0.10 to
// 0.33): the stated one, else by the name of the model.
#include "lint/engine/speculation.h"

#include <algorithm>
#include <array>

#include "lint/engine/json_text.h"
#include "lint/engine/numbers.h"

namespace kvbudget {
namespace {

bool holds(std::string_view text, std::string_view part) {
  const auto found = std::search(
      text.begin(), text.end(), part.begin(), part.end(),
      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; });
  return found != text.end();
}

std::string method_of(const std::string& stated, const std::string& model) {
  if (stated == "mtp" || stated.ends_with("_mtp")) return "mtp";
  if (stated == "[ngram]" || (stated.empty() && (model == "ngram" || model == "[ngram]"))) {
    return "ngram";
  }
  // Other methods give way to what the model is called.
  if (!stated.empty() && stated != "draft_model") return stated;
  constexpr std::array<std::array<std::string_view, 2>, 4> kNames = {
      {{"eagle-", "eagle"}, {"eagle3", "eagle3"}, {"dflash", "dflash"}, {"dspark", "dspark"}}};
  for (const auto& [part, method] : kNames) {
    if (holds(model, part)) return std::string(method);
  }
  return "draft_model";
}

// The members of the object and the flags that set them alone.
struct Member {
  std::string_view name;
  std::array<std::string_view, 2> flags;
};
constexpr Member kMethod{"method", {"spec-method", ""}};
constexpr Member kModel{"model", {"spec-model", "speculative-model"}};
constexpr Member kTokens{"num_speculative_tokens", {"spec-tokens", "num-speculative-tokens"}};

class Reader {
 public:
  Reader(const Settings& settings, std::string* unreadable)
      : settings_(settings), unreadable_(unreadable) {
    const Setting* object = settings.find("speculative-config");
    if (object == nullptr) return;
    asked = true;
    if (object->known && is_json_object(object->value)) {
      object_ = object->value;
    } else {
      fail("speculative-config");
    }
  }

  std::string text(const Member& member) {
    std::string value = json_member(object_, member.name).value_or("");
    for (const std::string_view flag : member.flags) {
      const Setting* setting = settings_.find(flag);
      if (setting == nullptr) continue;
      asked = true;
      if (!setting->known) fail(flag);
      if (value.empty() && setting->known) value = setting->value;
    }
    return value;
  }

  bool asked = false;

 private:
  void fail(std::string_view name) {
    if (unreadable_ != nullptr && unreadable_->empty()) *unreadable_ = name;
  }

  const Settings& settings_;
  std::string* unreadable_;
  std::string object_;
};

}  // namespace

std::optional<Speculation> read_speculation(const Settings& settings, std::string* unreadable) {
  Reader reader(settings, unreadable);
  Speculation result;
  result.model = reader.text(kModel);
  result.method = method_of(reader.text(kMethod), result.model);
  const std::optional<int64_t> tokens = python_int(reader.text(kTokens));
  if (tokens && *tokens >= 0) result.tokens = static_cast<uint64_t>(*tokens);
  return reader.asked ? std::optional(result) : std::nullopt;
}

bool drafts_without_model(const Speculation& speculation) {
  constexpr std::array<std::string_view, 3> kMethods = {"ngram", "ngram_gpu", "suffix"};
  return std::find(kMethods.begin(), kMethods.end(), speculation.method) != kMethods.end();
}

}  // namespace kvbudget
