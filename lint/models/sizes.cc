#include "lint/models/sizes.h"

#include <charconv>
#include <cmath>
#include <string>

namespace kvbudget::models {
namespace {

constexpr double kMaxSize = 1ull << 40;

// Recursive descent over a formula of a table; a value that does not exist makes the whole nothing.
class Evaluator {
 public:
  using Values = std::array<std::optional<double>, 128>;
  using Number = std::optional<double>;

  Evaluator(std::string_view text, const Values& values) : text_(text), values_(values) {}

  Number run() {
    const Number result = choice();
    return text_.empty() && result && std::isfinite(*result) ? result : std::nullopt;
  }

 private:
  bool take(char wanted) {
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  Number choice() {
    const Number condition = comparison();
    if (!take('?')) return condition;
    const Number yes = choice();
    if (!take(':')) return std::nullopt;
    const Number no = choice();
    if (!condition) return std::nullopt;
    return *condition != 0.0 ? yes : no;
  }

  Number comparison() {
    const Number left = sum();
    for (const char sign : {'<', '>', '='}) {
      if (!take(sign)) continue;
      const Number right = sum();
      if (!left || !right) return std::nullopt;
      return sign == '<' ? *left < *right : sign == '>' ? *left > *right : *left == *right;
    }
    return left;
  }

  Number sum() {
    Number left = product();
    while (!text_.empty() && (text_.front() == '+' || text_.front() == '-')) {
      const bool plus = take('+');
      if (!plus) take('-');
      const Number right = product();
      left = left && right ? Number(plus ? *left + *right : *left - *right) : std::nullopt;
    }
    return left;
  }

  Number product() {
    Number left = atom();
    while (!text_.empty() && (text_.front() == '*' || text_.front() == '/')) {
      const bool times = take('*');
      if (!times) take('/');
      const Number right = atom();
      left = left && right ? Number(times ? *left * *right : *left / *right) : std::nullopt;
    }
    return left;
  }

  Number atom() {
    if (take('-')) {
      const Number value = atom();
      return value ? Number(-*value) : std::nullopt;
    }
    if (take('(')) {
      const Number value = choice();
      return take(')') ? value : std::nullopt;
    }
    if (take('[')) {
      const Number value = choice();
      return take(']') && value ? Number(std::floor(*value)) : std::nullopt;
    }
    return text_.empty() ? std::nullopt : name_or_number();
  }

  Number name_or_number() {
    double number = 0.0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error == std::errc()) {
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      return number;
    }
    const auto name = static_cast<unsigned char>(text_.front());
    text_.remove_prefix(1);
    return name < values_.size() ? values_[name] : std::nullopt;
  }

  std::string_view text_;
  const Values& values_;
};

// What one spelling of a definition finds, nullopt when it is absent or null.
std::optional<double> look_up(std::string_view key, const Config& part, const Config& root) {
  const auto take = [&](char sign) {
    if (!key.starts_with(sign)) return false;
    key.remove_prefix(1);
    return true;
  };
  const Config& config = take('^') ? root : part;
  const bool length = take('#');
  const bool last = take('@');
  Config holder = config;
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
    const auto nested = holder.nested(key.substr(0, dot));
    if (!nested) return std::nullopt;
    holder = *nested;
    key.remove_prefix(dot + 1);
  }
  const Json* value = holder.find(key);
  if (value == nullptr) return std::nullopt;
  if (length) {
    return value->is_array() ? std::optional(static_cast<double>(value->size())) : std::nullopt;
  }
  if (value->is_array() && !value->empty()) value = last ? &value->back() : &value->front();
  if (value->is_boolean()) return value->get<bool>() ? 1.0 : 0.0;
  if (value->is_number() && std::fabs(value->get<double>()) <= kMaxSize) {
    return value->get<double>();
  }
  config.fail("key '" + std::string(key) + "' is not a number that makes sense");
  return std::nullopt;
}

}  // namespace

void Sizes::set(char name, double value) { values_[static_cast<unsigned char>(name)] = value; }

std::optional<double> Sizes::evaluate(std::string_view formula) const {
  return Evaluator(formula, values_).run();
}

void Sizes::read(std::string_view definitions, const Config& part, const Config& root) {
  any_part(definitions, ' ', [&](std::string_view definition) {
    if (definition.size() < 2) return false;
    const std::string_view rest = definition.substr(2);
    const size_t colon = rest.find(':');
    const std::string_view keys = rest.substr(0, colon);
    std::optional<double> value;
    any_part(keys, '|', [&](std::string_view key) {
      if (!key.empty()) value = look_up(key, part, root);
      return value.has_value();
    });
    if (!value && colon != std::string_view::npos) value = evaluate(rest.substr(colon + 1));
    if (value) {
      set(definition.front(), *value);
    } else {
      part.fail(keys.empty() ? "sizes of the encoder do not make sense"
                             : "none of the keys " + std::string(keys) + " is there");
    }
    return part.failed();
  });
}

uint64_t Sizes::whole(std::string_view formula, const Config& config) const {
  const std::optional<double> value = evaluate(formula);
  if (value && *value >= 0.0 && *value <= kMaxSize) return static_cast<uint64_t>(*value);
  config.fail("sizes of the encoder do not make sense");
  return 0;
}

}  // namespace kvbudget::models
