// The table of `kvbudget simulate`: one policy a row.
#include <ostream>
#include <string>

#include "lint/memory/format.h"
#include "lint/report/columns.h"
#include "lint/report/json.h"
#include "lint/simulate/command.h"

namespace kvbudget::simulate {

void write_text(const Engine& engine, const std::vector<Row>& rows, std::ostream& out) {
  out << memory::with_commas(engine.usable_blocks) << " blocks of " << engine.block_tokens
      << " tokens; wait is from arrival to the first step\n"
      << padded("max_tokens", 12) << padded("policy", 12) << padded("finished", 10)
      << padded("rejected", 10) << padded("preempted", 11) << padded("peak blocks", 13)
      << padded("running", 9) << padded("tokens/s", 10) << "wait s (mean, p95)\n";
  for (const Row& row : rows) {
    const Outcome& o = row.outcome;
    out << padded(row.max_tokens, 12) << padded(policy_name(row.policy), 12)
        << padded(memory::with_commas(o.finished), 10)
        << padded(memory::with_commas(o.rejected), 10)
        << padded(memory::with_commas(o.preemptions), 11)
        << padded(memory::with_commas(o.peak_blocks), 13)
        << padded(memory::decimal_text(o.mean_running, 1), 9)
        << padded(memory::decimal_text(o.tokens_per_second(), 0), 10)
        << memory::decimal_text(o.mean_wait_seconds, 1) << ", "
        << memory::decimal_text(o.p95_wait_seconds, 1) << '\n';
  }
}

void write_json(const Engine& engine, const std::vector<Row>& rows, std::ostream& out) {
  Json json = {{"schema", kJsonSchema},
               {"usable_blocks", engine.usable_blocks},
               {"block_size", engine.block_tokens},
               {"rows", Json::array()}};
  for (const Row& row : rows) {
    const Outcome& o = row.outcome;
    json["rows"].push_back({{"max_tokens", row.max_tokens},
                            {"policy", policy_name(row.policy)},
                            {"finished", o.finished},
                            {"rejected", o.rejected},
                            {"preemptions", o.preemptions},
                            {"peak_blocks", o.peak_blocks},
                            {"output_tokens", o.output_tokens},
                            {"seconds", o.seconds},
                            {"tokens_per_second", o.tokens_per_second()},
                            {"mean_running", o.mean_running},
                            {"mean_wait_seconds", o.mean_wait_seconds},
                            {"p95_wait_seconds", o.p95_wait_seconds}});
  }
  print_json(json, out);
}

}  // namespace kvbudget::simulate
