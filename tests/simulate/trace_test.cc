#include "lint/simulate/trace.h"

#include "tests/support/catch.h"

using namespace kvbudget::simulate;

TEST_CASE("Azure's traces are read, by time of arrival") {
  const Trace trace = read_trace(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2024-02-29 23:59:59.5,374,44\r\n"
      "2024-03-01 00:00:00.75,91,0\r\n"
      "2024-02-29 23:59:59.0,5,6\r\n");
  REQUIRE(trace.error.empty());
  REQUIRE(trace.requests.size() == 3);
  CHECK(trace.requests[0].prompt_tokens == 5);
  CHECK(trace.requests[1].arrival_seconds == Approx(0.5));
  CHECK(trace.requests[2].arrival_seconds == Approx(1.75));
  CHECK(trace.requests[2].output_tokens == 1);
}

TEST_CASE("Mooncake's traces are read with what their prompts share") {
  const Trace trace = read_trace(
      R"({"timestamp": 1500, "input_length": 1100, "output_length": 5, "hash_ids": [7, 8, 9]})");
  REQUIRE(trace.requests.size() == 1);
  CHECK(trace.requests[0].prefix_hashes == std::vector<uint64_t>{7, 8, 9});
}

TEST_CASE("what is no trace is refused with its line") {
  CHECK(read_trace("").error == "no requests in it");
  CHECK(read_trace("hello\n").error == "line 1: expected TIMESTAMP,ContextTokens,GeneratedTokens");
  CHECK(read_trace("2024-02-29 23:59:59,1,2\nyesterday,1,2\n").error ==
        "line 2: no timestamp: yesterday");
  CHECK(read_trace("2024-02-29 23:59:59,-1,2\n").error ==
        "line 1: ContextTokens and GeneratedTokens must be whole numbers");
  CHECK(read_trace("{\"timestamp\": 1\n").error ==
        "line 1: expected timestamp, input_length and output_length");
  CHECK(read_trace(R"({"timestamp":1,"input_length":1e30,"output_length":1})").error ==
        "line 1: lengths must be tokens");
}
