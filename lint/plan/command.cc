#include "lint/plan/command.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

#include "lint/check.h"
#include "lint/collect.h"
#include "lint/outputs.h"
#include "lint/plan/compare.h"
#include "lint/plan/json.h"
#include "lint/plan/plan.h"
#include "lint/plan/snippets.h"

namespace kvbudget::plan {
namespace {

constexpr uint64_t kMaxPlanBytes = uint64_t{1} << 20;

int fail_plan(Io& io, ExitCode code, const std::string& message) {
  return fail(io, code, "plan: " + message);
}

/// "deploy/chat.yaml:12", by which a start without a name can be chosen.
std::string place_of(const Deployment& d) {
  const Location& where = d.start.where;
  if (!where) return "";
  return where.file->path() + ":" + std::to_string(where.file->position(where.range.begin).line);
}

/// The whole name "Deployment/chat/vllm", a part of it, or the place.
bool is_called(const Deployment& d, const std::string& name) {
  if (d.start.name == name || place_of(d) == name) return true;
  std::string part;
  for (const char c : d.start.name + "/") {
    if (c != '/' && c != ' ') {
      part += c;
    } else if (std::exchange(part, "") == name) {
      return true;
    }
  }
  return false;
}

std::string list_of(const std::vector<const Deployment*>& deployments) {
  std::string text;
  for (const Deployment* d : deployments) {
    text += (text.empty() ? "" : ", ") + d->start.name + (d->start.name.empty() ? "" : " at ") +
            place_of(*d);
  }
  return text;
}

/// The one engine start that is meant; null when that was said to be wrong, with `code`.
const Deployment* choose(const std::vector<Deployment>& found, const std::string& name, Io& io,
                         int& code) {
  std::vector<const Deployment*> all;
  for (const Deployment& d : found) all.push_back(&d);
  std::vector<const Deployment*> meant = all;
  if (!name.empty()) {
    std::erase_if(meant, [&](const Deployment* d) { return !is_called(*d, name); });
  }
  if (meant.size() == 1) return meant.front();
  if (all.empty()) {
    code = fail_plan(io, kFailed, "no engine start found");
  } else if (meant.empty()) {
    code = fail_plan(io, kUsage, "no deployment '" + name + "'; there are " + list_of(all));
  } else {
    code = fail_plan(io, kUsage,
                     std::to_string(meant.size()) +
                         " engine starts; choose one with --deployment: " + list_of(meant));
  }
  return nullptr;
}

std::string usage_error(const Options& options) {
  const PlanChoices& choices = options.plan;
  if (options.paths.empty()) return "expected PATH";
  if (!choices.mode.empty()) {
    const std::string error = admission_mode_error(choices.mode);
    if (!error.empty()) return "--mode: " + error;
  }
  if (!choices.check.empty() && (!choices.output.empty() || choices.snippets)) {
    return "--check writes nothing; leave out -o and --snippets";
  }
  return format_error(options.outputs, {"json"});
}

/// The plan file that --check names; nothing when it was said to be wrong.
std::optional<Json> read_checked(const std::string& path, Io& io) {
  const ReadResult file = io.sources.files().read(path, kMaxPlanBytes);
  std::optional<Json> plan = file.bytes ? parse_plan(*file.bytes) : std::nullopt;
  if (plan) return plan;
  const std::string why = !file.error.empty() ? file.error : "not a plan";
  fail_plan(io, kFailed, path + ": " + why);
  return std::nullopt;
}

int report_differences(const std::string& path, const Json& before, const Plan& plan, Io& io) {
  const std::vector<Difference> differences = compare_plans(before, plan_json(plan));
  for (const Difference& difference : differences) {
    io.out << path << ": " << difference.field << ": " << difference.before << " -> "
           << difference.now << '\n';
  }
  if (differences.empty()) io.out << path << ": the plan is current\n";
  return differences.empty() ? kClean : kFindings;
}

int write_plan(const PlanChoices& choices, const Plan& plan, Io& io) {
  std::ostringstream text;
  print_json(plan_json(plan), text);
  if (!choices.output.empty()) {
    const std::string error = io.sources.files().write(choices.output, text.str());
    if (!error.empty()) return fail_plan(io, kFailed, choices.output + ": " + error);
  }
  if (choices.snippets) {
    write_snippets(plan, io.out);
  } else if (choices.output.empty()) {
    io.out << text.str();
  }
  io.out.flush();
  return io.out ? kClean : fail_plan(io, kFailed, "cannot write to standard output");
}

}  // namespace

int run_plan(const Options& options, RuleTable rules, const Resolver& resolve, Io& io) {
  const PlanChoices& choices = options.plan;
  if (const std::string error = usage_error(options); !error.empty()) {
    return fail_plan(io, kUsage, error);
  }
  const std::optional<Collection> read = read_files(options.paths, rules, resolve, io);
  if (!read) return kUsage;
  if (!read->complete) return kFailed;
  int code = kClean;
  const Deployment* deployment = choose(read->deployments, choices.deployment, io, code);
  if (deployment == nullptr) return code;
  std::optional<Json> before;
  if (!choices.check.empty()) {
    before = read_checked(choices.check, io);
    if (!before) return kFailed;
  }
  Admission admission = deployment->admission;
  if (!choices.mode.empty()) admission.mode = choices.mode;
  // The mode was a choice of whoever wrote the plan; where nobody says another it is not stale.
  if (before && !admission.mode && admission_mode_error(mode_of(*before)).empty()) {
    admission.mode = mode_of(*before);
  }
  const PlanResult result = make_plan(*deployment, admission);
  for (const std::string& warning : result.warnings) {
    io.err << "kvbudget: plan: warning: " << warning << '\n';
  }
  if (!result.plan) return fail_plan(io, kFailed, place_of(*deployment) + ": " + result.error);
  return before ? report_differences(choices.check, *before, *result.plan, io)
                : write_plan(choices, *result.plan, io);
}

}  // namespace kvbudget::plan
