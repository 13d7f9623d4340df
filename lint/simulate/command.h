// `kvbudget simulate PATH --trace FILE`: what a recorded load does to the engine that a file
// starts, as it is and with the ledger before it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "lint/options.h"
#include "lint/run.h"
#include "lint/simulate/engine.h"

namespace kvbudget::simulate {

struct Row {
  std::string max_tokens;  ///< "oracle", "2x", "1024"
  Policy policy = Policy::kStock;
  Outcome outcome;
};

/// What "oracle", "2x" or "1024" say; nullopt for anything else.
std::optional<MaxTokens> parse_max_tokens(const std::string& text);

/// The engine of a deployment with an estimate. `error` says why it cannot be simulated.
std::optional<Engine> engine_of(const Deployment& deployment, std::string& error);

/// All policies for each of `max_tokens`.
std::vector<Row> simulate(const Trace& trace, const Engine& engine,
                          const std::vector<std::string>& max_tokens, double speedup);

void write_text(const Engine& engine, const std::vector<Row>& rows, std::ostream& out);
void write_json(const Engine& engine, const std::vector<Row>& rows, std::ostream& out);

int run_simulate(const Options& options, RuleTable rules, const Resolver& resolve, Io& io);

}  // namespace kvbudget::simulate
