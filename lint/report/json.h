// What the JSON writers share. Keys keep the order in which they are written; bytes that are no
// UTF-8 become U+FFFD instead of an exception.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lint/deployment.h"
#include "lint/diagnostic.h"
#include "lint/read/source.h"

namespace kvbudget {

using Json = nlohmann::ordered_json;

/// Grows when a key changes its meaning; new keys leave it alone.
inline constexpr int kJsonSchema = 1;

void print_json(const Json& json, std::ostream& out);

/// Text, or null when there is none.
Json text_or_null(std::string_view text);
/// Path of a place, or null.
Json file_of(const Location& where);
/// Adds `line` and `column`, null when the value stands in no file.
void add_position(Json& json, const Location& where);
/// A number, or null for 0, which stands for "not known".
Json count_or_null(uint64_t count);

/// A number as vLLM logs it; the rest would only differ between compilers.
double hundredths(double value);

/// A finding as `lint` lists it.
Json finding_json(const Diagnostic& finding);

/// `terms` of an estimate, and `groups` of its KV cache.
Json terms_json(const memory::Estimate& estimate);
Json groups_json(const memory::Estimate& estimate);

/// One deployment as `estimate` shows it for a file.
Json estimate_json_in_file(const Deployment& deployment);

/// One deployment as `inspect` shows it and `lint` lists it.
Json deployment_json(const Deployment& deployment);

}  // namespace kvbudget
