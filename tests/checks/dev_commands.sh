#!/usr/bin/env bash
# dev_commands.sh REPOSITORY PROGRAM: each command that the usage of ./dev names is one of dev's own or of the program.
set -euo pipefail
dev=$1/dev program=$2

status=0
for word in $(sed -n 's/^#   //p' "$dev" | grep -oE '^\./dev [a-z]+' | cut -d' ' -f2 | sort -u); do
  if ! grep -qE "^  $word\)" "$dev" && ! "$program" "$word" --help >/dev/null 2>&1; then
    echo "dev_commands: './dev $word' is in the usage, and nothing runs it"
    status=1
  fi
done
exit $status
