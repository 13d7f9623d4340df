// The fitted figures of the memory model, fitted anew by plain least squares: to all runs, or to
// all but those of one model.
#pragma once

#include <string>

#include "lint/memory/engine_model.h"
#include "tests/accuracy/comparisons.h"

namespace kvbudget::test {

memory::Fitted fit(const Runs& runs, const std::string& without_model);

}  // namespace kvbudget::test
