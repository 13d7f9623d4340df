// The project files that hold for what is linted, each read once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lint/files.h"
#include "lint/project.h"

namespace kvbudget {

/// Safe to use from several threads.
class Projects {
 public:
  explicit Projects(SourceStore& sources) : sources_(sources) {}

  /// Reads the project file that holds for a file, so that errors() knows what is wrong with it.
  void load_for(const std::string& path);
  /// Settings for a file as its path was given; nothing is set where no project file holds.
  ProjectSettings settings_for(const std::string& path);
  bool excludes(const std::string& path);

  /// All that were read so far.
  std::vector<const Project*> loaded() const;
  /// What is wrong with them, each with its place; such files set nothing.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  std::string absolute(const std::string& path) const;
  const Project* find(const std::string& absolute_path);
  const Project* in_folder(const std::string& folder);

  SourceStore& sources_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Project>> by_folder_;  // null: none there
  std::vector<std::string> errors_;
};

}  // namespace kvbudget
