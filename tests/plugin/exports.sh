#!/usr/bin/env bash
# exports.sh HEADER LIBRARY: fails with the difference between the functions that the header
# declares and those that the library exports.
set -euo pipefail
declared=$(grep -oE '\bkvb_[a-z_0-9]+\(' "$1" | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$2" | awk '{print $3}' | sort -u)
diff <(echo "$declared") <(echo "$exported")
