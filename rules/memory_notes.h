// Sentences that several memory rules share.
#pragma once

#include <string>

#include "lint/deployment.h"
#include "lint/diagnostic.h"

namespace kvbudget {

/// "3.42 GiB is available", with the range when there is one.
std::string available_text(const memory::Estimate& estimate);

/// Adds how the available memory came about, and that the version was assumed where it was.
void add_budget_notes(const Deployment& d, Diagnostic& finding);

/// An estimate is an error only when its optimistic end fails too.
Severity severity_of(const memory::Estimate& estimate);

/// "the longest that fits is about 28,016, at worst 27,120": the second is what is proposed.
std::string longest_text(const Deployment& d);

/// What the card has beside the engine's budget, or beside a cache of fixed size and the rest.
uint64_t left_beside_budget(const Deployment& d);

/// A max-model-len to propose: the longest that fits at the pessimistic end, in whole blocks. 0
/// when no length worth proposing does.
uint64_t proposed_length(const Deployment& d);

/// What max-model-len rules end on: how many GPUs would do, and the fix where there is a value to
/// replace.
void propose_length(const Deployment& d, Diagnostic& finding);

}  // namespace kvbudget
