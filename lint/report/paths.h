// Paths as services that show a repository expect them: relative to its root, wherever in it the
// program ran.
#pragma once

#include <string>
#include <string_view>

namespace kvbudget {

struct ReportFolders {
  std::string current;  ///< absolute path that given paths are relative to; empty: not known
  std::string root;     ///< absolute path of the repository; empty: the current folder
};

/// `path` relative to the root, in its shortest form; absolute where it lies outside.
std::string path_below_root(const ReportFolders& folders, std::string_view path);

/// `path` as a URI reference (RFC 3986): every byte that is not unreserved is percent-encoded, so
/// that bytes which are no UTF-8 survive as well.
std::string uri_of(const ReportFolders& folders, std::string_view path);

}  // namespace kvbudget
