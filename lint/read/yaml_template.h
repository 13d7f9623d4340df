// Helm, Go and Jinja templates that produce YAML, read without running them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/read/source.h"

namespace kvbudget {

/// True when the text holds an action (`{{ … }}`, `{% … %}`): its value is decided elsewhere.
bool has_template_action(std::string_view text);

/// The actions of `text`, in order.
std::vector<ByteRange> template_actions(std::string_view text);

/// First word of an action: "if" of `{{- if .x }}`; empty when it does not begin with one.
std::string_view action_keyword(std::string_view action);

/// An action that steers and gives no text: `{{ if … }}`, `{{ end }}`, `{% … %}`, a comment.
bool is_control_action(std::string_view action);

/// A copy of the same length that parses as YAML: actions become plain letters, and lines that hold
/// nothing else become blank. Text without actions comes back as it is.
std::string neutralise_templates(std::string_view text);

}  // namespace kvbudget
