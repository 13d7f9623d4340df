#include "lint/outputs.h"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "lint/engine/nearest.h"

namespace kvbudget {

int fail(Io& io, ExitCode code, const std::string& message) {
  io.err << "kvbudget: " << message << '\n';
  return code;
}

int write_outputs(const std::vector<OutputSpec>& outputs, Io& io, const Writer& write) {
  const std::vector<OutputSpec> text_only(1);
  for (const OutputSpec& output : outputs.empty() ? text_only : outputs) {
    if (output.path.empty()) {
      write(output.format, io.colour, io.out);
      continue;
    }
    std::ostringstream text;
    write(output.format, false, text);
    const std::string error = io.sources.files().write(output.path, text.str());
    if (!error.empty()) return fail(io, kFailed, output.path + ": " + error);
  }
  io.out.flush();
  return io.out ? kClean : fail(io, kFailed, "cannot write to standard output");
}

std::string format_error(const std::vector<OutputSpec>& outputs,
                         const std::vector<std::string_view>& known) {
  for (const OutputSpec& output : outputs) {
    if (std::find(known.begin(), known.end(), output.format) != known.end()) continue;
    std::string list = "expected ";
    for (size_t i = 0; i < known.size(); ++i) {
      list += i == 0 ? "" : i + 1 == known.size() ? " or " : ", ";
      list += known[i];
    }
    return "no format '" + output.format + "'" + did_you_mean(output.format, known, list);
  }
  return "";
}

}  // namespace kvbudget
