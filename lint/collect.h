// From paths to deployments: reads each file once and resolves every engine start in it.
#pragma once

#include <string>
#include <vector>

#include "lint/run.h"

namespace kvbudget {

struct FileErrors {
  const SourceFile* file = nullptr;
  std::vector<SyntaxError> errors;
};

struct Collection {
  size_t files = 0;  ///< read
  std::vector<FileErrors> syntax_errors;
  std::vector<Deployment> deployments;  ///< in the order of the files
  bool complete = true;                 ///< false: something could not be read; Io::err says what
};

Collection collect(const std::vector<std::string>& paths, const Resolver& resolve, Io& io);

}  // namespace kvbudget
