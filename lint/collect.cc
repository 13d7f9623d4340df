#include "lint/collect.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <istream>
#include <iterator>
#include <ostream>
#include <set>
#include <utility>

#include "lint/parallel.h"
#include "lint/read/engine_start.h"
#include "lint/read/kustomize_build.h"
#include "lint/read/unreadable.h"
#include "lint/walk.h"

namespace kvbudget {

namespace {

// As much of standard input as a file may have, and one byte more to tell that it was too much.
ReadResult read_stream(std::istream& in) {
  std::string bytes(kMaxFileBytes + 1, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(in.gcount()));
  ReadResult result;
  result.file_bytes = bytes.size();
  if (bytes.size() <= kMaxFileBytes) result.bytes = std::move(bytes);
  return result;
}

SyntaxError too_big(const SourceFile& file) {
  return {{&file, {0, 0}},
          "the file has more than " + std::to_string(kMaxFileBytes >> 20) +
              " MiB, which no deployment file needs; it was not read"};
}

/// What one file gave; files are read in any order and reported in that of the walk.
struct FileOutcome {
  std::string failure;
  bool counts = false;
  const SourceFile* file = nullptr;
  std::vector<SyntaxError> errors;
  std::vector<Deployment> deployments;
  std::vector<std::string> built_from;  ///< files that a kustomization deploys in another shape
};

std::string normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().generic_string();
}

/// The engines of a kustomization and of the files that it names, in place of its own.
void build(const SourceFile& file, Io& io, FileContents& contents, FileOutcome& outcome) {
  Kustomizer kustomizer([&](const std::string& path) -> const SourceFile* {
    std::string error;
    const bool exists = io.sources.files().kind(path) == FileKind::kFile;
    return exists ? io.sources.open(path, &error) : nullptr;
  });
  KustomizeBuild built = kustomizer.build(file);
  if (built.starts.empty()) return;
  contents.starts = std::move(built.starts);
  const std::string own = normal(file.path());
  for (const std::string& path : built.files) {
    if (path != own) outcome.built_from.push_back(path);
  }
}

void resolve_file(const SourceFile& file, bool named, const Resolver& resolve, Io& io,
                  FileOutcome& outcome) {
  FileContents contents = read_file(file);
  if (is_kustomization_name(file.path())) build(file, io, contents, outcome);
  if (named && contents.starts.empty() && contents.errors.empty()) {
    if (auto why = why_unreadable(file)) contents.errors.push_back(std::move(*why));
  }
  outcome.errors = std::move(contents.errors);
  for (const EngineStart& start : contents.starts) {
    outcome.deployments.push_back(resolve(start));
    const std::vector<SyntaxError>& faults = outcome.deployments.back().workload_faults;
    outcome.errors.insert(outcome.errors.end(), faults.begin(), faults.end());
  }
}

FileOutcome visit(const FoundFile& found, const Resolver& resolve, Io& io) {
  FileOutcome outcome;
  const bool is_input = found.path == "-";
  const std::string path = is_input ? "<stdin>" : found.path;
  const uint64_t max_bytes = found.named ? kMaxFileBytes : candidate_max_bytes(found.path);
  ReadResult read = is_input ? read_stream(io.in) : io.sources.files().read(path, max_bytes);
  outcome.failure = read.error;
  // Found by walking, a huge or binary file is somebody else's; named, it deserves an answer.
  const bool foreign = !found.named && (!read.bytes || looks_binary(*read.bytes));
  if (!read.error.empty() || foreign) return outcome;
  outcome.counts = true;
  outcome.file = io.sources.add(path, read.bytes ? std::move(*read.bytes) : "");
  if (!read.bytes) {
    outcome.errors = {too_big(*outcome.file)};
  } else {
    resolve_file(*outcome.file, found.named, resolve, io, outcome);
  }
  return outcome;
}

void fail(const std::string& path, const std::string& reason, Collection& result, Io& io) {
  io.err << "kvbudget: " << path << ": " << reason << '\n';
  result.complete = false;
}

void add(FileOutcome outcome, const std::string& path, Collection& result, Io& io) {
  if (!outcome.failure.empty()) return fail(path, outcome.failure, result, io);
  result.files += outcome.counts ? 1 : 0;
  if (!outcome.errors.empty()) {
    result.syntax_errors.push_back({outcome.file, std::move(outcome.errors)});
  }
  std::move(outcome.deployments.begin(), outcome.deployments.end(),
            std::back_inserter(result.deployments));
}

}  // namespace

Collection collect(const std::vector<std::string>& paths, const Resolver& resolve, Io& io) {
  const SkipPath excluded = [&](const std::string& path) {
    return io.projects != nullptr && io.projects->excludes(path);
  };
  const WalkResult found = walk(io.sources.files(), paths, excluded);
  Collection result;
  for (const PathError& error : found.errors) fail(error.path, error.reason, result, io);
  for (const FoundFile& file : found.files) {
    if (io.projects != nullptr) io.projects->load_for(file.path);
  }
  std::vector<FileOutcome> outcomes(found.files.size());
  std::atomic<size_t> done = 0;
  for_each_index(found.files.size(), io.threads, [&](size_t i) {
    outcomes[i] = visit(found.files[i], resolve, io);
    if (io.progress) io.progress(++done, found.files.size());
  });
  std::set<std::string> parts;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const std::string& path = found.files[i].path;
    parts.insert(outcomes[i].built_from.begin(), outcomes[i].built_from.end());
    add(std::move(outcomes[i]), path == "-" ? "<stdin>" : path, result, io);
  }
  // What a kustomization of this run deploys in another shape is not reported by itself.
  std::erase_if(result.deployments, [&](const Deployment& deployment) {
    const SourceFile* file = deployment.start.file;
    return file != nullptr && !parts.empty() && parts.count(normal(file->path())) > 0;
  });
  return result;
}

}  // namespace kvbudget
