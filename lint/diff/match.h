// Which deployment of one side is which of the other.
//
// A deployment is known by its kind and name, so that a file may move. Those that share kind and
// name ("script", in every shell script) are told apart by their file first, and then by what they
// hold, their model, and their order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lint/deployment.h"

namespace kvbudget {

struct MatchSide {
  std::span<const Deployment> deployments;
  std::string folder;  ///< paths are compared below it
};

/// Indexes of the two sides; -1 where a side has none.
struct Match {
  int base = -1;
  int head = -1;
};

/// In the order of the head, what is gone behind it.
std::vector<Match> match_deployments(const MatchSide& base, const MatchSide& head);

/// The file of a place below the side's folder.
std::string path_below(const Location& where, const std::string& folder);

}  // namespace kvbudget
