#include "lint/diff/diff.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>

#include "lint/check.h"
#include "lint/collect.h"
#include "lint/diff/compare.h"
#include "lint/diff/sides.h"
#include "lint/diff/writers.h"
#include "lint/outputs.h"

namespace kvbudget {
namespace {

/// One side as `lint` would see it, with everything that its findings point into.
class LintedSide {
 public:
  LintedSide(const Side& side, const Inputs& inputs, Io& io)
      : files_(side.files),
        sources_(*files_),
        projects_(sources_),
        inputs_(inputs),
        io_{io.out, io.err, io.in, sources_, &projects_, io.threads, false} {
    inputs_.sources = &sources_;
    inputs_.memo = std::make_shared<ModelMemo>();
    inputs_.models.files = files_.get();
    result_.name = side.name;
    result_.commit = side.commit;
    result_.folder = side.folder;
  }

  /// What is wrong with a project file of this side; empty when nothing is.
  std::string read(const std::vector<std::string>& paths, const RuleChoice& choice) {
    Collection collection = collect(paths, resolver_with(inputs_, projects_), io_);
    const std::string error = project_error(&projects_, choice.all);
    if (!error.empty()) return result_.name + ": " + error;
    complete_ = collection.complete;
    result_.findings = check(collection, choice, false, &projects_);
    result_.deployments = std::move(collection.deployments);
    return "";
  }

  const ComparedSide& result() const { return result_; }
  bool complete() const { return complete_; }

 private:
  std::shared_ptr<FileSystem> files_;
  SourceStore sources_;
  Projects projects_;
  Inputs inputs_;
  Io io_;
  ComparedSide result_;
  bool complete_ = true;
};

// Models that the user named beside the revisions are the same for both.
std::vector<std::string> paths_of_models(const ModelSources& models) {
  std::vector<std::string> paths = models.folders;
  for (const ModelSources::Given& given : models.configs) paths.push_back(given.path);
  if (!models.hub_cache.empty()) paths.push_back(models.hub_cache);
  return paths;
}

bool is_failure(const DiffReport& report, const Options& options) {
  const auto is_loss = [](const DeploymentChange& change) { return !change.losses.empty(); };
  if (std::any_of(report.changes.begin(), report.changes.end(), is_loss)) return true;
  if (!options.fail_on_new) return false;
  const auto counts = [&](const Findings& findings) {
    return std::any_of(findings.begin(), findings.end(), [&](const Diagnostic* finding) {
      return finding->severity >= *options.fail_on_new;
    });
  };
  return counts(report.new_findings) ||
         std::any_of(report.changes.begin(), report.changes.end(),
                     [&](const DeploymentChange& change) { return counts(change.new_findings); });
}

int write_diff(const DiffView& view, const Options& options, Io& io) {
  return write_outputs(options.outputs, io, [&](std::string_view format, bool, std::ostream& out) {
    if (format == "json") return write_diff_json(view, out);
    if (format == "markdown") return write_diff_markdown(view, out);
    write_diff_text(view, out);
  });
}

}  // namespace

int run_diff(const Options& options, RuleTable rules, const Inputs& inputs, Io& io) {
  const std::string format = format_error(options.outputs, {"text", "json", "markdown"});
  if (!format.empty()) return fail(io, kUsage, "diff: " + format);
  const RuleChoice choice = choose_rules(options, rules);
  if (!choice.error.empty()) return fail(io, kUsage, choice.error);
  const Sides sides = find_sides(options, paths_of_models(inputs.models));
  if (!sides.error.empty()) return fail(io, sides.code, sides.error);

  LintedSide base(sides.base, inputs, io);
  LintedSide head(sides.head, inputs, io);
  for (const auto& [side, paths] :
       {std::pair(&base, &sides.base.paths), std::pair(&head, &sides.head.paths)}) {
    const std::string error = side->read(*paths, choice);
    if (!error.empty()) return fail(io, kUsage, error);
  }
  const DiffReport report = compare(base.result(), head.result(), options.loss_percent);
  const int written = write_diff({base.result(), head.result(), report}, options, io);
  if (written != kClean) return written;
  if (!base.complete() || !head.complete()) return kFailed;
  return is_failure(report, options) ? kFindings : kClean;
}

}  // namespace kvbudget
