#!/usr/bin/env bash
# exports.sh NM LIBRARY: the library exports kvb_* and nothing else.
set -euo pipefail
others=$("$1" -D --defined-only "$2" | awk '$2 ~ /[TDBRVW]/ {print $3}' | grep -v '^kvb_' || true)
if [ -n "$others" ]; then
  echo "exported beside kvb_*:"
  echo "$others"
  exit 1
fi
"$1" -D --defined-only "$2" | grep -q ' kvb_decode_cpu$'
