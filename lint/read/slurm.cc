// Source: sbatch(1), Slurm 24.05: `--gres=gpu:TYPE:N`, `--gpus=TYPE:N` and its relatives, each with
// `=` or a blank before the value. Directives end at the first command, which none of them looks
// like, so that all lines are read.
#include "lint/read/slurm.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace kvbudget {
namespace {

constexpr std::string_view kDirective = "#SBATCH";
constexpr std::string_view kOptions[] = {
    "--gres", "--gpus", "-G", "--gpus-per-node", "--gpus-per-socket", "--gpus-per-task"};
constexpr std::string_view kBlanks = " \t\r";

std::string_view next_word(std::string_view& line, std::string_view ends) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const size_t end = std::min(line.find_first_of(ends), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

// "h100" of "gpu:h100:8" and "h100:8"; empty for a number alone.
std::string_view card_in(std::string_view option, std::string_view value) {
  value = value.substr(0, value.find(','));
  if (option == "--gres") {
    constexpr std::string_view kGpu = "gpu:";
    if (!value.starts_with(kGpu)) return {};
    value.remove_prefix(kGpu.size());
  }
  const std::string_view card = value.substr(0, value.find(':'));
  return card.find_first_not_of("0123456789") == std::string_view::npos ? std::string_view() : card;
}

std::string_view card_in_line(std::string_view line) {
  if (!line.starts_with(kDirective)) return {};
  line.remove_prefix(kDirective.size());
  while (!line.empty()) {
    const std::string_view option = next_word(line, " \t\r=");
    if (std::find(std::begin(kOptions), std::end(kOptions), option) == std::end(kOptions)) continue;
    const std::string_view card = card_in(option, next_word(line, kBlanks));
    if (!card.empty()) return card;
  }
  return {};
}

}  // namespace

std::optional<Located<std::string>> slurm_gpu(const SourceFile& script) {
  std::optional<Located<std::string>> found;
  for (uint32_t number = 1; number <= script.line_count(); ++number) {
    const std::string_view card = card_in_line(script.line_text(number));
    if (card.empty()) continue;
    if (found && found->value != card) return std::nullopt;
    const auto begin = static_cast<uint32_t>(card.data() - script.bytes().data());
    const auto end = begin + static_cast<uint32_t>(card.size());
    if (!found) found = Located<std::string>{std::string(card), {&script, {begin, end}}};
  }
  return found;
}

}  // namespace kvbudget
