#!/usr/bin/env bash
# The memory model computes and does nothing else: pure_model.sh NM LIBRARY fails on every symbol
# that the library takes from outside and that is not plain computing. Whatever is not listed as
# allowed fails, so a new way to reach the world cannot slip in unnamed.
set -euo pipefail
nm=$1
library=$2

allowed='^(kvbudget::(memory|layout)::'
allowed+='|std::|operator (new|delete)|(typeinfo|vtable|VTT) for (std::|__cxxabiv1)|guard variable for '
allowed+='|mem(cpy|move|set|cmp|chr)$|bcmp$|strlen$|strcmp$'
allowed+='|(l?l?round|floor|ceil|log2?|pow|exp2?|sqrt|hypot|trunc|fmod|lrint|nearbyint)f?$'
allowed+='|__(cxa|gxx|stack_chk|assert|asan|ubsan|lsan)_|__(dso_handle|popcountdi2|udivti3|divti3|multi3)$'
allowed+='|_Unwind_Resume$|_GLOBAL_OFFSET_TABLE_$|abort$)'
# Parts of std that touch files, time, threads, the environment or the locale.
forbidden='std::.*(stream|locale|chrono|thread|mutex|filesystem|random_device|facet|ctype|num_put|num_get|filebuf)'

found=$("$nm" -u -C "$library" | sed -nE 's/^ +[Uw] +//p' | sort -u)
bad=$(grep -vE "$allowed" <<<"$found" || true; grep -E "$forbidden" <<<"$found" || true)
if [ -z "$found" ]; then
  echo "$library: no symbols at all; is this the right file?"
  exit 1
fi
if [ -n "$bad" ]; then
  echo "the memory model reaches outside:"
  echo "$bad"
  exit 1
fi
