#include "lint/lint_command.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lint/baseline.h"
#include "lint/check.h"
#include "lint/collect.h"
#include "lint/fix.h"
#include "lint/outputs.h"
#include "lint/report/report.h"

namespace kvbudget {

namespace {

/// One fix may make room for another; more rounds than this mean that two undo each other.
constexpr int kMaxFixRounds = 10;

/// The error of the first file that cannot be written; empty when all are.
std::string write_fixed(const FixedFiles& fixed, FileSystem& files) {
  for (const auto& [path, text] : fixed.texts) {
    const std::string error = files.write(path, text);
    if (!error.empty()) return path + ": " + error;
  }
  return "";
}

/// What services call the root: the folder above this one that holds a repository.
ReportFolders folders_of(const FileSystem& files) {
  ReportFolders folders;
  const std::string current = files.absolute(".");
  if (!current.starts_with('/')) return folders;
  folders.current = folders.root = current;
  for (std::string folder = current; !folder.empty(); folder = parent_folder(folder)) {
    if (files.kind(join_path(folder, ".git")) == FileKind::kMissing) continue;
    folders.root = folder;
    break;
  }
  return folders;
}

class LintRun {
 public:
  LintRun(const Options& options, const RuleChoice& choice, const Resolver& resolve, Io& io)
      : options_(options), choice_(choice), resolve_(resolve), io_(io) {}

  int run() {
    if (const int code = read_old_baseline(); code != kClean) return code;
    if (const int code = lint_and_fix(); code != kClean) return code;
    if (const int code = write_new_baseline(); code != kClean) return code;
    if (const int code = write(); code != kClean) return code;
    if (!report_.complete) return kFailed;
    const bool failing =
        std::any_of(report_.findings.begin(), report_.findings.end(),
                    [&](const Diagnostic& d) { return d.severity >= options_.fail_on; });
    return failing ? kFindings : kClean;
  }

 private:
  int read_old_baseline() {
    const std::string& path = options_.baseline;
    if (path.empty()) return kClean;
    const ReadResult read = io_.sources.files().read(path, kMaxFileBytes);
    if (!read.error.empty()) return fail(io_, kFailed, path + ": " + read.error);
    BaselineResult result = read_baseline(read.bytes.value_or(""));
    if (!result.error.empty()) return fail(io_, kUsage, path + ": " + result.error);
    baseline_ = std::move(result.baseline);
    return kClean;
  }

  /// Lints, and lints again after each round of fixes.
  int lint_and_fix() {
    for (int round = 0; round <= kMaxFixRounds; ++round) {
      if (round > 0) io_.sources.forget();
      std::optional<Collection> read = read_files(options_.paths, choice_.all, resolve_, io_);
      if (!read) return kUsage;
      report_.findings = check(*read, choice_, options_.require_complete, io_.projects);
      report_.files = read->files;
      report_.complete = read->complete;
      report_.deployments = std::move(read->deployments);
      hide_known();
      const FixedFiles fixed = apply_fixes(report_.findings, options_.fix_level);
      if (fixed.texts.empty() || round == kMaxFixRounds) break;
      report_.fixed += fixed.applied;
      const std::string error = write_fixed(fixed, io_.sources.files());
      if (!error.empty()) return fail(io_, kFailed, error);
    }
    return kClean;
  }

  /// A new baseline is going to hold all that is found, so the old one hides nothing.
  void hide_known() {
    if (!baseline_ || !options_.write_baseline.empty()) return;
    BaselineUse use = kvbudget::hide_known(*baseline_, choice_.rules, report_.findings);
    report_.baselined = use.hidden;
    report_.stale_baseline = std::move(use.stale);
  }

  int write_new_baseline() {
    const std::string& path = options_.write_baseline;
    if (path.empty()) return kClean;
    const Baseline baseline = baseline_of(report_.findings, report_.deployments);
    const std::string error = io_.sources.files().write(path, baseline_text(baseline));
    if (!error.empty()) return fail(io_, kFailed, path + ": " + error);
    report_.baselined = report_.findings.size();
    report_.findings.clear();
    return kClean;
  }

  int write() {
    report_.rules = choice_.rules;
    report_.fail_on = options_.fail_on;
    report_.folders = folders_of(io_.sources.files());
    return write_outputs(options_.outputs, io_,
                         [&](std::string_view format, bool colour, std::ostream& out) {
                           const TextStyle style{colour, options_.quiet, options_.statistics};
                           write_findings(format, report_, style, out);
                         });
  }

  const Options& options_;
  const RuleChoice& choice_;
  const Resolver& resolve_;
  Io& io_;
  std::optional<Baseline> baseline_;
  Report report_;
};

}  // namespace

int run_lint(const Options& options, RuleTable rules, const Resolver& resolve, Io& io) {
  const RuleChoice choice = choose_rules(options, rules);
  if (!choice.error.empty()) return fail(io, kUsage, choice.error);
  return LintRun(options, choice, resolve, io).run();
}

}  // namespace kvbudget
