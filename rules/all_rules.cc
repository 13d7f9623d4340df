#include "rules/all_rules.h"

#include <array>

namespace kvbudget {

// Each rule is one constant in a file of its own; naming it here keeps the linker from dropping it.
#define RULE(name) extern const Rule name##_rule;
#include "rules/rules.def"
#undef RULE

namespace {
constexpr const Rule* kRules[] = {
#define RULE(name) &name##_rule,
#include "rules/rules.def"
#undef RULE
    nullptr};
}  // namespace

RuleTable all_rules() { return RuleTable(kRules, std::size(kRules) - 1); }

}  // namespace kvbudget
