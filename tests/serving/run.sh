#!/usr/bin/env bash
# run.sh REPOSITORY FOLDER [KVBUDGET]: the tests of a real engine, in FOLDER; 77, which ctest calls skipped, where
# the engine cannot be had, but 1 where $CI says that it must be. Run by hand: ctest does not know it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$1 folder=$2
if ! environment=$("$here/install.sh" "${XDG_CACHE_HOME:-$HOME/.cache}/kvbudget"); then
  if [ -n "${CI:-}" ]; then
    echo "failed: the engine cannot be installed"
    exit 1
  fi
  echo "skipped: the engine cannot be installed"
  exit 77
fi
"$environment/bin/uv" pip install --quiet --no-deps --no-index --no-build-isolation --reinstall \
  -C cmake.define.CMAKE_CUDA_COMPILER=NOTFOUND --python "$environment/bin/python" "$repository"
PATH=$environment/bin:$PATH "$environment/bin/python" -m kvbudget.vllm.check
"$environment/bin/python" "$here/attention_ops_test.py"
"$environment/bin/python" "$here/attention_test.py" "$folder/attention" "${@:3}"
exec "$environment/bin/python" "$here/engine_test.py" "$folder"
