#!/usr/bin/env bash
# Who may include whom, as a table: layering.sh ROOT fails with file:line for every include that a
# row does not allow. Folders without a row may include what they like.
set -euo pipefail
cd "$1"
status=0

fail() {
  echo "$1"
  status=1
}

# only FOLDER OURS LIBRARIES: quoted includes must match OURS, those in <> must match LIBRARIES.
only() {
  local folder=$1 ours=$2 libraries=$3 line
  [ -e "$folder" ] || return 0
  while IFS= read -r line; do
    if [[ $line =~ include\ *\"([^\"]*) ]]; then
      [[ ${BASH_REMATCH[1]} =~ $ours ]] || fail "$line: $folder may not include it"
    elif [[ $line =~ include\ *\<([^\>]*) ]]; then
      [[ ${BASH_REMATCH[1]} =~ $libraries ]] || fail "$line: $folder may not include it"
    fi
  done < <(grep -rnE '^ *# *include' --include='*.h' --include='*.cc' --include='*.cu*' "$folder")
}

# nowhere_but PATTERN ALLOWED: code that matches PATTERN stands in the files that match ALLOWED.
nowhere_but() {
  local pattern=$1 allowed=$2 line
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    [[ ${line%%:*} =~ $allowed ]] || fail "$line: only $allowed may say this"
  done < <(grep -rnE "$pattern" --include='*.h' --include='*.cc' lint rules kernels plugin 2>/dev/null |
    grep -vE '^[^:]*:[0-9]+: *(//|///)' || true)
}

std='^[a-z_0-9]+$'
only kernels/layout '^kernels/layout/' "$std"
only kernels '^kernels/' "$std|^(stdint|math|immintrin|sys/mman|cuda[a-z_0-9]*)\.h$"
only lint/memory '^(lint/memory|kernels/layout)/' "$std"
only lint/models '^(lint/(models|engine|memory|read)|kernels/layout|cmake)/' "$std|^(llvm|nlohmann)/"
only lint/engine '^(lint/(engine|memory|models|read)|kernels/layout|cmake)/' "$std|^nlohmann/"
only lint/read '^lint/read/' "$std|^(llvm|nlohmann)/"
only lint/report '^lint/([a-z_]+\.h|(report|engine|memory|models|read)/)' "$std|^nlohmann/"
only rules '^(rules/|lint/(rule|deployment|diagnostic)\.h|lint/(memory|engine|models|read)/|kernels/layout/)' "$std"
only plugin/ledger '^(plugin/(ledger|include)|kernels/layout)/' "$std"
for file in admission block_pool engine trace; do
  only "lint/simulate/$file.cc" '^(lint/simulate|plugin/ledger)/' "$std|^nlohmann/"
done
only plugin/shm '^plugin/shm/' "$std|^(fcntl|signal|unistd|sys/[a-z]+)\.h$"
only plugin/abi '^plugin/(abi|include|ledger|shm)/' "$std"
only plugin/include '^$' '^std(def|int)\.h$'

nowhere_but 'YAMLParser|YAMLTraits' '^lint/read/(document|yaml_[a-z_]+)\.(cc|h)$'
nowhere_but '\bcl::(opt|list|alias)\b|CommandLine\.h' '^lint/(command_line\.cc|option_groups\.h)$'
nowhere_but '\b(posix_spawnp?|popen|v?fork|system|execv[pe]*)\(' '^lint/diff/process\.cc$'
nowhere_but '\b(std::)?_?exit\(' '^lint/main\.cc$'
nowhere_but '\bstd::(cout|cerr|cin)\b' '^lint/main\.cc$'
exit $status
