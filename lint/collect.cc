#include "lint/collect.h"

#include <istream>
#include <ostream>
#include <utility>

#include "lint/read/engine_start.h"
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

class Collector {
 public:
  Collector(const Resolver& resolve, Io& io) : resolve_(resolve), io_(io) {}

  void fail(const std::string& path, const std::string& reason) {
    io_.err << "kvbudget: " << path << ": " << reason << '\n';
    result_.complete = false;
  }

  void visit(const FoundFile& found) {
    const bool is_input = found.path == "-";
    const std::string path = is_input ? "<stdin>" : found.path;
    const uint64_t max_bytes = found.named ? kMaxFileBytes : candidate_max_bytes(found.path);
    ReadResult read = is_input ? read_stream(io_.in) : io_.sources.files().read(path, max_bytes);
    if (!read.error.empty()) return fail(path, read.error);
    // Found by walking, a huge or binary file is somebody else's; named, it deserves an answer.
    if (!found.named && (!read.bytes || looks_binary(*read.bytes))) return;
    ++result_.files;
    if (!read.bytes) {
      const SourceFile* file = io_.sources.add(path, "");
      result_.syntax_errors.push_back({file, {too_big(*file)}});
      return;
    }
    resolve_file(*io_.sources.add(path, std::move(*read.bytes)), found.named);
  }

  Collection take() { return std::move(result_); }

 private:
  void resolve_file(const SourceFile& file, bool named) {
    FileContents contents = read_file(file);
    if (named && contents.starts.empty() && contents.errors.empty()) {
      if (auto why = why_unreadable(file)) contents.errors.push_back(std::move(*why));
    }
    if (!contents.errors.empty()) {
      result_.syntax_errors.push_back({&file, std::move(contents.errors)});
    }
    for (const EngineStart& start : contents.starts) {
      result_.deployments.push_back(resolve_(start));
    }
  }

  const Resolver& resolve_;
  Io& io_;
  Collection result_;
};

}  // namespace

Collection collect(const std::vector<std::string>& paths, const Resolver& resolve, Io& io) {
  const SkipPath excluded = [&](const std::string& path) {
    return io.projects != nullptr && io.projects->excludes(path);
  };
  const WalkResult found = walk(io.sources.files(), paths, excluded);
  Collector collector(resolve, io);
  for (const PathError& error : found.errors) collector.fail(error.path, error.reason);
  for (const FoundFile& file : found.files) {
    // Read now, so that what is wrong with a project file is known before rules run.
    if (io.projects != nullptr) io.projects->settings_for(file.path);
    collector.visit(file);
  }
  return collector.take();
}

}  // namespace kvbudget
