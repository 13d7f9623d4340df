#include "lint/simulate/command.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "lint/check.h"
#include "lint/collect.h"
#include "lint/outputs.h"

namespace kvbudget::simulate {
namespace {

constexpr uint64_t kMaxTraceBytes = uint64_t{1} << 30;

constexpr Policy kPolicies[] = {Policy::kStock, Policy::kOptimistic, Policy::kStrict};
constexpr const char* kUsualMaxTokens[] = {"oracle", "2x", "1024"};

/// The one engine that the paths start, judged.
std::optional<Engine> find_engine(const Options& options, RuleTable rules, const Resolver& resolve,
                                  Io& io, std::string& error) {
  const std::optional<Collection> read = read_files(options.paths, rules, resolve, io);
  if (!read) {
    error = "a project file is wrong";
    return std::nullopt;
  }
  if (read->deployments.size() != 1) {
    error = "expected one engine start, found " + std::to_string(read->deployments.size());
    return std::nullopt;
  }
  return engine_of(read->deployments.front(), error);
}

}  // namespace

std::optional<MaxTokens> parse_max_tokens(const std::string& text) {
  MaxTokens result;
  if (text == "oracle") return result;
  const bool times = text.ends_with('x');
  const char* end = text.data() + text.size() - (times ? 1 : 0);
  if (times) {
    result.kind = MaxTokens::Kind::kTimes;
    const auto [rest, error] = std::from_chars(text.data(), end, result.times);
    const bool valid = error == std::errc() && rest == end && result.times >= 1.0;
    return valid ? std::optional(result) : std::nullopt;
  }
  result.kind = MaxTokens::Kind::kFixed;
  const auto [rest, error] = std::from_chars(text.data(), end, result.tokens);
  const bool valid = error == std::errc() && rest == end && result.tokens > 0;
  return valid ? std::optional(result) : std::nullopt;
}

std::optional<Engine> engine_of(const Deployment& d, std::string& error) {
  if (!d.estimate) {
    error = d.missing.empty() ? "the model generates no text" : d.missing.front().detail;
    return std::nullopt;
  }
  const memory::Estimate& e = *d.estimate;
  if (!e.best.holds_one_request || e.best.num_blocks < 2) {
    error = e.because;
    return std::nullopt;
  }
  if (e.groups.size() != 1 || (e.groups[0].kind != "full" && e.groups[0].kind != "mla")) {
    error = "only models whose layers all keep the whole context can be replayed";
    return std::nullopt;
  }
  Engine engine;
  engine.usable_blocks = e.best.num_blocks - 1;  // one is the null block
  engine.block_tokens = std::max(e.groups[0].block_tokens, 1U);
  engine.max_model_len = e.max_model_len;
  engine.max_num_seqs = d.engine.max_num_seqs;
  engine.max_num_batched_tokens = d.engine.max_num_batched_tokens;
  engine.watermark = d.watermark();
  const Setting* whole = d.settings.find("scheduler-reserve-full-isl");
  engine.reserve_full_prompt =
      d.engine.release.at_least(19) && (whole == nullptr || whole->value != "false");
  engine.prefix_caching = d.engine.prefix_caching;
  return engine;
}

std::vector<Row> simulate(const Trace& trace, const Engine& engine,
                          const std::vector<std::string>& max_tokens, double speedup) {
  std::vector<Row> rows;
  for (const std::string& text : max_tokens) {
    const std::optional<MaxTokens> asked = parse_max_tokens(text);
    if (!asked) continue;
    for (const Policy policy : kPolicies) {
      rows.push_back({text, policy, run(trace, engine, policy, *asked, speedup)});
    }
  }
  return rows;
}

int run_simulate(const Options& options, RuleTable rules, const Resolver& resolve, Io& io) {
  const SimulateChoices& choices = options.simulate;
  const auto usage = [&](const std::string& message) {
    return fail(io, kUsage, "simulate: " + message);
  };
  if (options.paths.empty() || choices.trace.empty()) return usage("expected PATH --trace FILE");
  if (!(choices.speedup > 0.0)) return usage("--speedup must be above 0");
  std::vector<std::string> max_tokens = choices.max_tokens;
  if (max_tokens.empty()) max_tokens.assign(std::begin(kUsualMaxTokens), std::end(kUsualMaxTokens));
  for (const std::string& text : max_tokens) {
    if (!parse_max_tokens(text)) {
      return usage("--max-tokens " + text + ": expected oracle, a factor such as 2x, or tokens");
    }
  }
  std::string error;
  std::optional<Engine> engine = find_engine(options, rules, resolve, io, error);
  if (!engine) return fail(io, kFailed, "simulate: " + error);
  if (choices.blocks != 0) engine->usable_blocks = choices.blocks;
  engine->step = choices.step;

  const ReadResult file = io.sources.files().read(choices.trace, kMaxTraceBytes);
  if (!file.bytes) {
    return fail(io, kFailed,
                choices.trace + ": " + (file.error.empty() ? "too large" : file.error));
  }
  const Trace trace = read_trace(*file.bytes);
  if (!trace.error.empty()) return fail(io, kFailed, choices.trace + ": " + trace.error);
  const std::vector<Row> rows = simulate(trace, *engine, max_tokens, choices.speedup);
  return write_outputs(options.outputs, io, [&](std::string_view format, bool, std::ostream& out) {
    format == "json" ? write_json(*engine, rows, out) : write_text(*engine, rows, out);
  });
}

}  // namespace kvbudget::simulate
