// Settles what YAML leaves to the loader: duplicate keys and merge keys (`<<`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lint/read/document.h"

namespace kvbudget {

/// A mapping as it is being read. Rules of PyYAML: own keys win over merged ones, an earlier
/// mapping of a merge list wins over a later one, the last of a duplicate key wins.
class MappingBuilder {
 public:
  /// What one file may copy by merging, so that nested merges cannot blow up.
  struct Budget {
    uint64_t merged_bytes = uint64_t{16} << 20;
  };

  MappingBuilder(Budget& budget, std::vector<SyntaxError>& errors)
      : budget_(budget), errors_(errors) {}

  void add(SourceText key, NodePtr value);
  void add_merge(const SourceText& key, NodePtr value);
  std::vector<Entry> take();

 private:
  void merge(const NodePtr& mapping);

  Budget& budget_;
  std::vector<SyntaxError>& errors_;
  std::vector<Entry> entries_;
  std::vector<Entry> merges_;
};

}  // namespace kvbudget
