#include "lint/read/json_check.h"

#include <nlohmann/json.hpp>

namespace kvbudget {
namespace {

/// Takes every event and keeps the error, so that nothing is built and nothing is thrown.
struct ErrorOnly : nlohmann::json_sax<nlohmann::json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::json::exception&) override {
    const size_t behind = position > 0 ? position - 1 : 0;
    error = JsonError{static_cast<uint32_t>(behind), "not valid JSON"};
    if (!last_token.empty() && last_token.size() < 40) {
      error->message += ", unexpected " + last_token;
    }
    return false;
  }

  std::optional<JsonError> error;
};

}  // namespace

std::optional<JsonError> check_json(std::string_view text) {
  ErrorOnly events;
  nlohmann::json::sax_parse(text.begin(), text.end(), &events);
  return events.error;
}

}  // namespace kvbudget
