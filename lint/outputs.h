// Writing what a command found, once in each format that was asked for.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "lint/run.h"

namespace kvbudget {

/// Writes one format; `colour` only ever is true for a terminal.
using Writer = std::function<void(std::string_view format, bool colour, std::ostream& out)>;

/// Text where no format was asked for. The exit code is kFailed when something cannot be written.
int write_outputs(const std::vector<OutputSpec>& outputs, Io& io, const Writer& write);

/// "no format 'jsn'; did you mean 'json'?", empty when all are `known`.
std::string format_error(const std::vector<OutputSpec>& outputs,
                         const std::vector<std::string_view>& known);

/// Says what is wrong, in one line, and returns the code.
int fail(Io& io, ExitCode code, const std::string& message);

}  // namespace kvbudget
