// The model of an engine beside a real one, and the policies on recorded loads.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "lint/simulate/engine.h"
#include "tests/support/catch.h"
#include "tests/support/shared.h"

using namespace kvbudget;
using namespace kvbudget::simulate;

namespace {

Trace burst(int requests, uint32_t prompt, uint32_t output) {
  Trace trace;
  for (int i = 0; i < requests; ++i) {
    TraceRequest request;
    request.prompt_tokens = prompt;
    request.output_tokens = output;
    trace.requests.push_back(request);
  }
  return trace;
}

Engine small_engine() {
  Engine engine;
  engine.usable_blocks = 32;
  engine.block_tokens = 32;
  engine.max_model_len = 1'024;
  engine.watermark = 0.0;
  return engine;
}

// Arrivals so fast that stock always queues, and few enough blocks that it preempts.
void compare_policies(const char* name, uint64_t blocks, double least_optimistic) {
  const auto path = test::shared_path(std::string("traces/") + name);
  if (!test::shared_exists(path)) return;
  std::ifstream file(path);
  const Trace trace = read_trace(std::string(std::istreambuf_iterator<char>(file), {}));
  REQUIRE(trace.error.empty());
  Engine engine;
  engine.usable_blocks = blocks;
  engine.max_model_len = 16'384;
  constexpr double kSpeedup = 10.0;
  const Outcome stock = run(trace, engine, Policy::kStock, {}, kSpeedup);
  const Outcome strict = run(trace, engine, Policy::kStrict, {}, kSpeedup);
  const Outcome optimistic = run(trace, engine, Policy::kOptimistic, {}, kSpeedup);
  std::printf(
      "%s, %llu blocks: stock %llu preemptions, optimistic %llu; tokens a second beside "
      "stock: strict %.3f, optimistic %.3f\n",
      name, static_cast<unsigned long long>(blocks),
      static_cast<unsigned long long>(stock.preemptions),
      static_cast<unsigned long long>(optimistic.preemptions),
      strict.tokens_per_second() / stock.tokens_per_second(),
      optimistic.tokens_per_second() / stock.tokens_per_second());
  CHECK(stock.preemptions > 0);
  CHECK(strict.preemptions == 0);
  CHECK(strict.finished == stock.finished);
  CHECK(strict.tokens_per_second() >= 0.95 * stock.tokens_per_second());
  CHECK(optimistic.finished == stock.finished);
  CHECK(optimistic.preemptions * 10 <= stock.preemptions);
  CHECK(optimistic.tokens_per_second() >= least_optimistic * stock.tokens_per_second());
}

}  // namespace

// A real vLLM on a CPU, 0.28.0 and 0.32.0: 16 requests of 60 + 192 tokens over 33 blocks of 32.
TEST_CASE("the stock engine preempts as often as a real one") {
  const Outcome outcome = run(burst(16, 60, 192), small_engine(), Policy::kStock, {}, 1.0);
  CHECK(outcome.finished == 16);
  CHECK(outcome.preemptions >= 21);
  CHECK(outcome.preemptions <= 25);
  CHECK(outcome.peak_blocks == 32);
}

TEST_CASE("with the whole life reserved nothing is preempted and all finish") {
  const Outcome outcome = run(burst(16, 60, 192), small_engine(), Policy::kStrict, {}, 1.0);
  CHECK(outcome.finished == 16);
  CHECK(outcome.preemptions == 0);
  CHECK(outcome.output_tokens == 16 * 192);
}

TEST_CASE("requests that no pool holds are rejected and the others finish") {
  Trace trace = burst(4, 60, 20);
  trace.requests[1].prompt_tokens = 2'000;
  for (const Policy policy : {Policy::kStock, Policy::kOptimistic, Policy::kStrict}) {
    const Outcome outcome = run(trace, small_engine(), policy, {}, 1.0);
    CHECK(outcome.finished == 3);
    CHECK(outcome.rejected == 1);
  }
}

TEST_CASE("a shared prefix is computed once and takes its blocks once") {
  Trace trace = burst(8, 1'000, 4);
  for (TraceRequest& request : trace.requests) request.prefix_hashes = {1};
  for (size_t i = 1; i < trace.requests.size(); ++i) trace.requests[i].arrival_seconds = 10.0;
  Engine engine = small_engine();
  engine.usable_blocks = 200;
  engine.block_tokens = 16;
  const Outcome shared = run(trace, engine, Policy::kStock, {}, 1.0);
  engine.prefix_caching = false;
  const Outcome apart = run(trace, engine, Policy::kStock, {}, 1.0);
  CHECK(shared.finished == 8);
  CHECK(shared.seconds < apart.seconds);
  CHECK(shared.mean_running > apart.mean_running);
}

TEST_CASE("what clients ask for is what they need, or more") {
  MaxTokens asked;
  TraceRequest request;
  request.output_tokens = 300;
  CHECK(asked.of(request) == 300);
  asked.kind = MaxTokens::Kind::kTimes;
  CHECK(asked.of(request) == 600);
  asked.kind = MaxTokens::Kind::kFixed;
  CHECK(asked.of(request) == 1'024);
  request.output_tokens = 2'000;
  CHECK(asked.of(request) == 2'000);
}

TEST_CASE("on recorded conversations budgets cost little and spare preemptions", "[corpus]") {
  compare_policies("azure-2023-conv.csv", 2'000, 1.0);
  compare_policies("azure-2023-conv.csv", 3'000, 1.0);
}

// Completions are so short that stock preempts once in 8,819 requests: nothing is to be won, and
// what is reserved for the ends of answers costs a thousandth.
TEST_CASE("on recorded code completions budgets cost little", "[corpus]") {
  compare_policies("azure-2023-code.csv", 700, 0.999);
}
