#include "lint/read/shell_words.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

/// Commands joined by ` ; `, words in angle brackets, `?` in front of those that are not known.
std::string show(const std::vector<Word>& words) {
  std::string result;
  for (const Word& word : words) {
    result += std::string(word.known ? "" : "?") + "<" + word.text.str() + ">";
  }
  return result;
}

std::string run(const char* script) {
  const SourceFile file("f.sh", script);
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  ShellScope scope;
  std::string result;
  read_shell(text, scope, [&](const ShellCommand& command, ShellScope&) {
    if (!result.empty()) result += " ; ";
    for (const EnvVar& variable : command.env) {
      result += variable.name.str() + "=" + (variable.known ? variable.value.str() : "?") + " ";
    }
    result += show(command.words);
  });
  return result;
}

struct Case {
  const char* script;
  const char* commands;
};

}  // namespace

TEST_CASE("words are split, unquoted and joined as a shell does") {
  const Case cases[] = {
      {"a b  c", "<a><b><c>"},
      {"a 'b c' \"d e\" f\\ g", "<a><b c><d e><f g>"},
      {"a \\\n  b", "<a><b>"},
      {"a \\\r\n  b\r\n", "<a><b>"},
      {"a'b'\"c\"d", "<abcd>"},
      {"a '' \"\"", "<a><><>"},
      {"a \"x\\\"y\\$z\\n\"", "<a><x\"y$z\\n>"},
      {"a $'x\\ty'", "<a><x\ty>"},
      {"a # comment\nb", "<a> ; <b>"},
      {"a b#c", "<a><b#c>"},
      {"a \\\n  # ends the command here\n  b", "<a> ; <b>"},
      {"a; b && c || d | e & f", "<a> ; <b> ; <c> ; <d> ; <e> ; <f>"},
      {"a > out 2>&1 < in &> all >> more b", "<a><b>"},
      {"a 2> err 3", "<a><3>"},
      {"a <<EOF b\n$x `c`\nEOF\nd", "<a><b> ; <d>"},
      {"a <<-'E F'\n\tx\n\tE F\nb", "<a> ; <b>"},
      {"a <<< text b", "<a><b>"},
      {"a <(b c) d", "<a>?<<(b c)><d>"},
      {"a --m <your-model> \\\n <b> <c", "<a><--m>?<<your-model>>?<<b>>"},
      {"a '{\"k\": {\"x\": 1}}'", "<a><{\"k\": {\"x\": 1}}>"},
      {"a {{ .Values.x }} \"{{ .y }}-z\"", "<a>?<{{ .Values.x }}>?<{{ .y }}-z>"},
      // Remarks between joined lines, and lines that a template takes out.
      {"a \\\n `# it's one` \\\n b $(# too\n)", "<a><b>"},
      {"a `b 'c` d", "<a>?<`b 'c`><d>"},
      {"a \"`# x`\"", "<a><>"},
      {"a \\\n{% if x %}\n  b \\\n  {%- endif %} \n  c\nd", "<a><b><c> ; <d>"},
      {"a\n{% if x %}\nb\n{{- end }}\nc", "<a> ; <b> ; <c>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(run(item.script) == item.commands);
  }
}

TEST_CASE("variables that the script sets are known, others are not") {
  const Case cases[] = {
      {"M=x; a $M \"$M\" ${M}y --m=$M", "<a><x><x><xy><--m=x>"},
      {"a $M --m=$M ${M}", "<a>?<$M>?<--m=$M>?<${M}>"},
      {"a ${M:-x} \"${M:-y z}\" ${M-'q r'}", "<a><x><y z><q r>"},
      {"M=; a ${M:-x} ${M-y} b", "<a><x><b>"},
      {"a ${M:-}b", "<a><b>"},
      {"a ${E:+--eager} b", "<a><b>"},
      {"E=1; a ${E:+--eager} b", "<a><--eager><b>"},
      {"a ${F:---flag} ${G:---g 1}", "<a><--flag><--g><1>"},
      {"a ${M:-${N:-deep}}", "<a><deep>"},
      {": ${T:=4}; a $T", "<:><4> ; <a><4>"},
      {"M=${1:-org/name}; a $M", "<a><org/name>"},
      {"M=$1; a $M", "<a>?<$M>"},
      {"M=$(cmd 'x'); a $M ${M##*/}", "<a>?<$M>?<${M##*/}>"},
      {"a `b c` $(d \"$(e)\") $((1 + 2))", "<a>?<`b c`>?<$(d \"$(e)\")><3>"},
      {"A='--x 1 --y'; a $A \"$A\"", "<a><--x><1><--y><--x 1 --y>"},
      {"A=\"--x $Y --z\"; a $A", "<a><--x>?<$Y><--z>"},
      {"A=--x; A+=' --y'; a $A", "<a><--x><--y>"},
      {"L=(--x \"1 2\" # why\n --y \\\n); L+=(--z); a \"${L[@]}\" ${L[1]} $L",
       "<a><--x><1 2><--y><--z>?<${L[1]}><--x>"},
      {"E=(); a \"${E[@]}\" b \"x${E[@]}\"", "<a><b><x>"},
      {"a \"$@\" b", "<a>?<$@><b>"},
      {"set -- x 'y z'; a \"$@\" $1", "<set><--><x><y z> ; <a><x><y z><x>"},
      {"export A=1 B=2; declare -x C=3; local D; a $A$B$C",
       "<export> ; <declare> ; <local> ; <a><123>"},
      {"A=1 B=$X a b", "A=1 B=? <a><b>"},
      {"a $", "<a><$>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(run(item.script) == item.commands);
  }
}

TEST_CASE("a variable is known behind a branch only when the branches agree") {
  const Case cases[] = {
      {"if [ -e x ]; then A=1; else A=2; fi; a $A", "<[><-e><x><]> ; <a>?<$A>"},
      {"if [ -e x ]; then A=1; else A=1; fi; a $A", "<[><-e><x><]> ; <a><1>"},
      {"A=1; if [ -e x ]; then A=2; a $A; fi; a $A", "<[><-e><x><]> ; <a><2> ; <a>?<$A>"},
      {"if [[ -z \"$A\" ]]; then A=1; fi; a $A", "<a><1>"},
      {"L=(); if [[ -e x ]]; then L=(--x $Y); fi; a \"${L[@]}\"", "<a>?<--x>?<$Y>"},
      {"A=1; [ -e x ] && A=2; a $A", "<[><-e><x><]> ; <a>?<$A>"},
      {"P=1; while [[ $# -gt 0 ]]; do case $1 in --p) P=\"$2\"; shift 2 ;; *) b ;; esac; done; a "
       "$P",
       "<shift><2> ; <b> ; <a><1>"},
      {"case $X in\n  a|b) A=1 ;;\n  *) A=2 ;;\nesac\na $A", "<a>?<$A>"},
      {"for M in x; do a $M; done; for M in x y; do a $M; done", "<a><x> ; <a>?<$M>"},
      {"(A=1; a $A); a $A", "<a><1> ; <a>?<$A>"},
      {"f() { A=1; a $A; }\nf", "<a><1> ; <f>"},
      {"function f {\n  a\n}\nb", "<a> ; <b>"},
      {"{ A=1; }; a $A", "<a><1>"},
      {"read A; a $A", "<read><A> ; <a>?<$A>"},
      {"for ((i=0; i<3; i++)); do a; done", "<a>"},
      {"if a; then", "<a>"},
      {"fi; done; }; esac; ) a", "<a>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(run(item.script) == item.commands);
  }
}

TEST_CASE("a condition whose operands are known decides which branch counts") {
  const Case cases[] = {
      {"if [ 1 -gt 0 ]; then A=1; else A=2; fi; a $A", "<[><1><-gt><0><]> ; <a><1>"},
      {"A=0; if [[ ${N:-3} -eq 4 ]]; then A=1; fi; a $A", "<a><0>"},
      {"if [[ ${D:-CUDA} == xpu ]]; then A=1; elif [[ ${D:-CUDA} == C* ]]; then A=2; else A=3; fi; "
       "a $A",
       "<a><2>"},
      {"if [[ -z \"${D:-}\" ]]; then if [[ \"${P:-Cuda}\" != \"xpu\" ]]; then D=C; fi; fi; a $D",
       "<a><C>"},
      {"if [[ a == a && ! ( b == c || $X == d ) ]]; then A=1; else A=2; fi; a $A", "<a>?<$A>"},
      {"if [[ a == b || ! ( b == c && $X == d ) ]]; then A=1; else A=2; fi; a $A", "<a><1>"},
      {"if [[ $X =~ ^(a|b)$ ]]; then A=1; else A=2; fi; a $A", "<a>?<$A>"},
      {"if ! false; then A=1; else A=2; fi; a $A", "<false> ; <a><1>"},
      {"A=1; test a = b && A=2; a $A", "<test><a><=><b> ; <a><1>"},
      {"A=1; test a = a && A=2; a $A", "<test><a><=><a> ; <a><2>"},
      {"A=1; test a = a || A=2; a $A", "<test><a><=><a> ; <a><1>"},
      {"case ${X:-off} in on) A=1 ;; of?) A=2 ;; *) A=3 ;; esac; a $A", "<a><2>"},
      {"A=1; case \"${X:-}\" in off|no) A=2 ;; esac; a $A", "<a><1>"},
      {"case $X in *) A=1 ;; esac; a $A", "<a><1>"},
      {"A=1; if false; then a $A; A=2; a $A; fi; a $A", "<false> ; <a><1> ; <a><2> ; <a><1>"},
      {"if true; then : ${A:=1}; else : ${A:=2}; fi; a $A", "<true> ; <:><1> ; <:><2> ; <a><1>"},
      {"if [[ ab == \"a*\" || ab == 'a?' ]]; then A=1; else A=2; fi; a $A", "<a><2>"},
      {"if [ ab = a* ]; then A=1; else A=2; fi; a $A", "<[><ab><=><a*><]> ; <a><2>"},
      {"case ab in \"*\"|'a*') A=1 ;; a*) A=2 ;; esac; a $A", "<a><2>"},
      {"if [[ a; then A=1; fi", ""},
      {"if [ $X ; then A=1; else A=2; fi; a $A", "<[>?<$X> ; <a>?<$A>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(run(item.script) == item.commands);
  }
}

TEST_CASE("flags that a branch adds may be there, and no others are given up") {
  const Case cases[] = {
      {"A=(--x 1); if c; then A+=(--y 2); fi; a \"${A[@]}\"", "<c> ; <a><--x><1>?<--y>?<2>"},
      {"A=--x; if c; then A+=\" --y\"; fi; a $A", "<c> ; <a><--x>?<--y>"},
      {"A=--x; if c; then A=\"$A --y\"; fi; if d; then A=\"${A} --z\"; fi; a $A",
       "<c> ; <d> ; <a><--x>?<--y>?<--z>"},
      {"if c; then A=' --x'; else A=' '; fi; a $A b", "<c> ; <a>?<--x><b>"},
      {"if c; then A=--x; fi; a $A", "<c> ; <a>?<--x>"},
      {"c && A=--x; a $A", "<c> ; <a>?<--x>"},
      {"A=(--x); if c; then A=(\"${A[@]}\" --y); fi; a \"${A[@]}\"", "<c> ; <a><--x>?<--y>"},
      {"if c; then A='--x 1'; else A='--y 2'; fi; a $A", "<c> ; <a>?<--x>?<1>?<--y>?<2>"},
      {"A=--x; if c; then A+=' --y'; fi; a \"$A\" --z", "<c> ; <a>?<$A><--z>"},
      {"A=--x; if c; then A+=' --y'; fi; B=\"$A --z\"; a $B", "<c> ; <a>?<$A><--z>"},
      {"A=(--s 1); if c; then A=(--s 2 --y); fi; a \"${A[@]}\" b",
       "<c> ; <a>?<--s>?<1>?<--s>?<2>?<--y><b>"},
      {"if c; then A=1; else A=--x; fi; a $A", "<c> ; <a>?<$A>"},
      {"f() { A='--x'; }; f; a $A", "<f> ; <a><--x>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(run(item.script) == item.commands);
  }
}

TEST_CASE("the arguments of a function that is called once are known in it") {
  const Case cases[] = {
      {"f() { local m=$1 p=\"$2\"; a $m --p $p \"${@:2}\" $3; }\nf x 8",
       "<local> ; <a><x><--p><8>?<${@:2}>?<$3> ; <f><x><8>"},
      {"function f {\n  m=$1; shift; a $m \"$@\"\n}\nf x --y 'z z'",
       "<shift> ; <a><x><--y><z z> ; <f><x><--y><z z>"},
      {"f() { a $1; }\nf x\nf y", "<a>?<$1> ; <f><x> ; <f><y>"},
      {"f() { a $1; }\ng() { f $1; }\ng x", "<a>?<$1> ; <f><x> ; <g><x>"},
      {"set -- s\nf() { a $1; }\nf $X\na $1", "<set><--><s> ; <a>?<$X> ; <f>?<$X> ; <a><s>"},
      {"f() { f x; a $1; }\nf() {", "<f><x> ; <a><x>"},
      {"x() ", ""},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(run(item.script) == item.commands);
  }
}

TEST_CASE("expansions change case and cut patterns off") {
  const Case cases[] = {
      {"M=Org/Name-8B; a ${M##*/} ${M#*/} ${M%%-*} ${M%/*} ${M,,} ${M^^}",
       "<a><Name-8B><Name-8B><Org/Name><Org><org/name-8b><ORG/NAME-8B>"},
      {"M=x; a ${M#$N} ${M//x/y} ${M:0:1}", "<a>?<${M#$N}>?<${M//x/y}>?<${M:0:1}>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(run(item.script) == item.commands);
  }
}

TEST_CASE("patterns of the shell fit texts as a whole") {
  struct {
    const char* text;
    const char* pattern;
    bool fits;
  } const cases[] = {
      {"abc", "abc", true},
      {"abc", "ab", false},
      {"abc", "a*", true},
      {"abc", "*c", true},
      {"abc", "*b", false},
      {"abcbc", "a*bc", true},
      {"abc", "a?c", true},
      {"abc", "??", false},
      {"", "*", true},
      {"", "?", false},
      {"b", "[a-c]", true},
      {"d", "[a-c]", false},
      {"d", "[!a-c]", true},
      {"]", "[]]", true},
      {"-", "[a-]", true},
      {"a*", "a\\*", true},
      {"ab", "a\\*", false},
      {"[a", "[a", true},
      {"x3y", "*[0-9]*", true},
      {"xyz", "*[!0-9]*", true},
      {"123", "*[!0-9]*", false},
      {"aab", "*a*b*c", false},
      {"", "", true},
      {"a", "", false},
  };
  for (const auto& item : cases) {
    INFO(item.text << " and " << item.pattern);
    CHECK(fits_pattern(item.text, item.pattern) == item.fits);
  }
  const std::string stars = [] {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "*a";
    return text + "b";
  }();
  CHECK_FALSE(fits_pattern(std::string(2000, 'a'), stars));
}

TEST_CASE("a command has the here-documents that it reads and the files that it writes") {
  const SourceFile file("f.sh",
                        "N=4\ncat > out.yaml <<EOF\na: $N \"$M\" \\$N\nEOF\n"
                        "cat <<-'X' | apply -f -\n\tb: $N\n\tX\n"
                        "c <<A <<B 2> err\n1\nA\n2\nB\nd <<EOF\nno end\n");
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  ShellScope scope;
  std::string result;
  read_shell(text, scope, [&](const ShellCommand& command, ShellScope&) {
    result += command.words[0].text.str();
    for (const SourceText& input : command.input) result += "[" + input.str() + "]";
    for (const Word& word : command.output) result += ">" + word.text.str();
    result += ";";
  });
  CHECK(result ==
        "cat[a: 4 \"$M\" $N\n]>out.yaml;cat[b: $N\n];apply[b: $N\n];c[1\n][2\n];d[no end\n];");
}

TEST_CASE("expansion cannot blow up") {
  std::string script = "A0=xxxxxxxxxxxxxxxx\n";
  for (int i = 1; i < 60; ++i) {
    const std::string p = "$A" + std::to_string(i - 1);
    script += "A" + std::to_string(i) + "=\"" + p + p + "\"\n";
  }
  script += "a $A59\n";
  CHECK(run(script.c_str()) == "<a>?<$A59>");
}

TEST_CASE("a word made of a variable stands where its value stands") {
  const SourceFile file("f.sh", "LEN=8192\nvllm serve --max-model-len=$LEN\n");
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  ShellScope scope;
  std::vector<Word> words;
  read_shell(text, scope, [&](const ShellCommand& command, ShellScope&) { words = command.words; });
  REQUIRE(words.size() == 3);
  REQUIRE(words[2].text.str() == "--max-model-len=8192");
  CHECK(words[2].text.substr(16).location().range == ByteRange{4, 8});
  CHECK(words[2].text.substr(0, 15).location().range == ByteRange{20, 35});
}

TEST_CASE("a string that no shell reads is split at blanks only") {
  const Case cases[] = {
      {"a 'b c' \"d\\\"e\" $x", "<a><b c><d\"e><$x>"},
      {"a b; c", "<a><b>"},
      {"  a\n  b\n", "<a><b>"},
      {"a \"x \\ y\"", "<a><x  y>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    const SourceFile file("f", item.script);
    const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
    CHECK(show(split_words({text, true})) == item.commands);
  }
}

TEST_CASE("arithmetic of known whole numbers has a result") {
  const Case cases[] = {
      {"N=4; a $((N * 2)) $((${N}-1)) $(( $N / 3 % 2 ))", "<a><8><3><1>"},
      {"a --x=$((2*(3+4)-1))", "<a><--x=13>"},
      {"N=$(( ${RANK:-0} * 8 )); a $N $((-2 + N))", "<a><0><-2>"},
      {"a $((N * 2))", "<a>?<$((N * 2))>"},
      {"N=x; a $((N))", "<a>?<$((N))>"},
      {"N=`b`; a $((${N:-1}))", "<a>?<$((${N:-1}))>"},
      {"a $((1 / 0)) $((010)) $((1 << 2))", "<a>?<$((1 / 0))>?<$((010))>?<$((1 << 2))>"},
      {"a $((9223372036854775807 + 1))", "<a>?<$((9223372036854775807 + 1))>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(run(item.script) == item.commands);
  }
}
