#include "lint/diff/process.h"

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("words reach a program as they are, with both of its streams and its exit code") {
  const ProcessResult result = run_process(
      {"sh", "-c", "printf '%s|%s' \"$1\" \"$KVB_WORD\"; echo bad >&2; exit 3", "sh", "a $HOME; b"},
      {"KVB_WORD=first"});
  CHECK(result.code == 3);
  CHECK(result.out == "a $HOME; b|first");
  CHECK(result.err == "bad\n");
}

TEST_CASE("more than a pipe holds comes through on both streams") {
  const ProcessResult result =
      run_process({"sh", "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"}, {});
  CHECK(result.out.size() == 300000);
  CHECK(result.err.size() == 300000);
}

TEST_CASE("a program that does not exist is an answer") {
  const ProcessResult result = run_process({"kvb-no-such-program"}, {});
  CHECK(result.code == -1);
  CHECK(result.failure == "kvb-no-such-program: No such file or directory");
}

TEST_CASE("a program answers one question after another until it goes") {
  Conversation talk({"sh", "-c", "read a; echo \"<$a>\"; read b; printf 'four%s\\n' \"$b\""}, {});
  std::string text;
  REQUIRE(talk.say("one\n"));
  REQUIRE(talk.read_line(text));
  CHECK(text == "<one>");
  REQUIRE(talk.say("two\n"));
  REQUIRE(talk.read_bytes(4, text));
  CHECK(text == "four");
  REQUIRE(talk.skip_bytes(2));
  REQUIRE(talk.read_line(text));
  CHECK(text == "o");
  CHECK_FALSE(talk.read_line(text));
}
