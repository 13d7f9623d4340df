#include "lint/read/yaml_template.h"

#include "lint/read/document.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* text;
  const char* neutral;
};

}  // namespace

TEST_CASE("template actions become letters, lines of nothing else become blank") {
  const Case cases[] = {
      {"a: 1", "a: 1"},
      {"a: {{ .x }}", "a: xxxxxxxx"},
      {"{{- if .x }}\na: 1\n{{ end }}\n", "            \na: 1\n         \n"},
      {"  {{ .a }}{{ .b }}  \n", "                    \n"},
      {"{{/* a\ncomment */}}\na: 1", "      \n            \na: 1"},
      {"a: {{ \"}}\" }}", "a: xxxxxxxxxx"},
      {"{% for x in y %}\n- {{ x }}\n", "                \n- xxxxxxx\n"},
      {"a: ${#x} # {{", "a: ${#x} # {{"},
      {"a: {{ never closed", "a: {{ never closed"},
  };
  for (const Case& item : cases) {
    INFO(item.text);
    CHECK(neutralise_templates(item.text) == item.neutral);
  }
}

TEST_CASE("a template reads as YAML and keeps its actions in the values") {
  const SourceFile file("f.yaml", R"(
{{- if .Values.enabled }}
metadata:
  name: {{ include "x" . }}
  labels:
    {{- include "labels" . | nindent 4 }}
args:
  - "--model={{ .Values.model | quote }}"
  {{- range .Values.extra }}
  - {{ . }}
  {{- end }}
script: |
  vllm serve \
    {{- if .Values.port }}
    --port {{ .Values.port }} \
    {{- end }}
    --seed 1
{{- end }}
)");
  const Document document = parse_yaml(file);
  CHECK(document.errors.empty());
  REQUIRE(document.roots.size() == 1);
  const Node& root = *document.roots[0];
  CHECK(root.at({"metadata", "name"})->scalar() == "{{ include \"x\" . }}");
  CHECK(root.at({"metadata", "labels"})->kind == Node::Kind::kNull);
  REQUIRE(root.find("args")->items.size() == 2);
  CHECK(root.find("args")->items[0]->scalar() == "--model={{ .Values.model | quote }}");
  CHECK(root.find("script")->scalar() ==
        "vllm serve \\\n  --port {{ .Values.port }} \\\n  --seed 1\n");
}
