#!/usr/bin/env bash
# threads.sh CXX SOURCES BUILD: one writer and several readers of a snapshot under ThreadSanitizer.
set -euo pipefail
"$1" -std=c++20 -O1 -g -fsanitize=thread -I"$2" "$2/tests/plugin/threads_main.cc" -o "$3/threads"
# Newer kernels lay memory out in a way that older runtimes of the sanitizer refuse.
run=()
if command -v setarch >/dev/null; then run=(setarch "$(uname -m)" -R); fi
"${run[@]}" "$3/threads"
