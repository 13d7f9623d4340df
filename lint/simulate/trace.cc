#include "lint/simulate/trace.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace kvbudget::simulate {
namespace {

using nlohmann::json;

constexpr uint32_t kMostTokens = 1U << 27;  // longer than any context

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

// "2023-11-16 18:17:03.9799600", seconds since 1970.
std::optional<double> timestamp(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00 00:00:00";
  if (text.size() < kShape.size()) return std::nullopt;
  const auto part = [&](size_t at, size_t size) { return number<unsigned>(text.substr(at, size)); };
  const auto year = part(0, 4);
  const auto month = part(5, 2);
  const auto day = part(8, 2);
  const auto hour = part(11, 2);
  const auto minute = part(14, 2);
  const auto seconds = number<double>(text.substr(17));
  if (!year || !month || !day || !hour || !minute || !seconds) return std::nullopt;
  namespace chrono = std::chrono;
  const chrono::year_month_day date{chrono::year(static_cast<int>(*year)), chrono::month(*month),
                                    chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  const int64_t days = chrono::sys_days(date).time_since_epoch().count();
  const int64_t minutes = (days * 24 + *hour) * 60 + *minute;
  return static_cast<double>(minutes) * 60.0 + *seconds;
}

std::string read_azure(std::string_view line, TraceRequest& request) {
  const size_t first = std::min(line.find(','), line.size());
  const size_t second = std::min(line.find(',', first + 1), line.size());
  if (second == line.size()) return "expected TIMESTAMP,ContextTokens,GeneratedTokens";
  const auto time = timestamp(line.substr(0, first));
  const auto prompt = number<uint32_t>(line.substr(first + 1, second - first - 1));
  const auto output = number<uint32_t>(line.substr(second + 1));
  if (!time) return "no timestamp: " + std::string(line.substr(0, first));
  if (!prompt || !output) return "ContextTokens and GeneratedTokens must be whole numbers";
  request.arrival_seconds = *time;
  request.prompt_tokens = *prompt;
  request.output_tokens = *output;
  return "";
}

std::string read_mooncake(std::string_view line, TraceRequest& request) {
  const json row = json::parse(line, nullptr, false);
  const auto field = [&](const char* name) -> std::optional<double> {
    if (!row.is_object() || !row.contains(name) || !row[name].is_number()) return std::nullopt;
    return row[name].get<double>();
  };
  const auto time = field("timestamp");
  const auto prompt = field("input_length");
  const auto output = field("output_length");
  if (!time || !prompt || !output) return "expected timestamp, input_length and output_length";
  if (!(*prompt >= 0 && *prompt <= kMostTokens && *output >= 0 && *output <= kMostTokens)) {
    return "lengths must be tokens";
  }
  request.arrival_seconds = *time / 1'000.0;
  request.prompt_tokens = static_cast<uint32_t>(*prompt);
  request.output_tokens = static_cast<uint32_t>(*output);
  if (!row.contains("hash_ids") || !row["hash_ids"].is_array()) return "";
  for (const json& id : row["hash_ids"]) {
    if (!id.is_number_unsigned()) return "hash_ids must be whole numbers";
    request.prefix_hashes.push_back(id.get<uint64_t>());
  }
  return "";
}

// Arrivals from 0 on, in order, and no request without a token to generate.
void settle(Trace& trace) {
  std::stable_sort(trace.requests.begin(), trace.requests.end(),
                   [](const TraceRequest& a, const TraceRequest& b) {
                     return a.arrival_seconds < b.arrival_seconds;
                   });
  const double start = trace.requests.empty() ? 0.0 : trace.requests.front().arrival_seconds;
  for (TraceRequest& request : trace.requests) {
    request.arrival_seconds -= start;
    request.output_tokens = std::max(request.output_tokens, 1U);
  }
}

}  // namespace

Trace read_trace(std::string_view text) {
  Trace trace;
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const std::string_view line = next_line(text);
    if (line.empty() || line.starts_with("TIMESTAMP")) continue;
    TraceRequest request;
    std::string error =
        line.front() == '{' ? read_mooncake(line, request) : read_azure(line, request);
    if (error.empty() && request.prompt_tokens > kMostTokens) error = "the prompt has no sense";
    if (!error.empty()) {
      trace = {};
      trace.error = "line " + std::to_string(line_number) + ": " + error;
      return trace;
    }
    trace.requests.push_back(std::move(request));
  }
  if (trace.requests.empty()) trace.error = "no requests in it";
  settle(trace);
  return trace;
}

}  // namespace kvbudget::simulate
