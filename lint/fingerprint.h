// What a finding is about, whatever line it stands on and however it is worded: how baselines, code
// scanning services and `diff` tell a known finding from a new one.
//
// A fingerprint is made of the rule, of the deployment (kind and name, not the file) and of the
// setting in it that the finding is about. Path, line, message and numbers stay out: a finding is
// the same after lines were inserted above it, after its file was renamed, and when a better
// estimate words it anew. Equal findings are told apart by counting them in the order of the
// report.
//
// A finding without a deployment (a syntax error, a comment that hides nothing) has the text of its
// line in place of deployment and setting, with blanks joined and numbers masked. The name of its
// file is left out as well, so that renaming keeps it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lint/deployment.h"
#include "lint/diagnostic.h"

namespace kvbudget {

struct FindingIdentity {
  std::string rule;
  std::string deployment;  ///< "kubernetes Deployment/chat/vllm"; empty for findings about a file
  std::string subject;     ///< "max-model-len"; empty for the deployment as a whole
  friend auto operator<=>(const FindingIdentity&, const FindingIdentity&) = default;
};

FindingIdentity identity_of(const Diagnostic& finding, std::span<const Deployment> deployments);

/// 40 hex digits, equal for equal identities in every release.
std::string hash_of(const FindingIdentity& identity);

/// Fills Diagnostic::fingerprint: "HASH:N" for the N-th finding of that identity, so that no two in
/// one run are equal.
void set_fingerprints(std::vector<Diagnostic>& findings, std::span<const Deployment> deployments);

/// HASH of "HASH:N".
std::string hash_of_fingerprint(const std::string& fingerprint);

}  // namespace kvbudget
