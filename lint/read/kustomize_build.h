// A kustomization with the files it names: what `kustomize build` would deploy.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// Opens a file on disk; null when there is none.
using FileOpener = std::function<const SourceFile*(const std::string& path)>;

struct KustomizeBuild {
  std::vector<EngineStart> starts;  ///< they stand in the kustomization, their words where written
  std::vector<std::string> files;   ///< everything it was made of, paths without `..`
};

/// "kustomization.yaml" in any spelling that kustomize takes.
bool is_kustomization_name(std::string_view path);

/// Builds the kustomizations of one run; files that several of them name are read once. Remote
/// resources and what plugins generate are left out; so are engines then that need them.
class Kustomizer {
 public:
  explicit Kustomizer(FileOpener open);
  ~Kustomizer();
  KustomizeBuild build(const SourceFile& file);

  struct Cache;

 private:
  std::unique_ptr<Cache> cache_;
};

}  // namespace kvbudget
