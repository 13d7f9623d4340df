#!/usr/bin/env bash
# run.sh REPOSITORY FOLDER PYTHON-ARGUMENT…: a test of a real engine, with files in FOLDER; 77, which
# ctest calls skipped, where the engine cannot be had, but 1 where $CI says that it must be.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$1 folder=$2
shift 2
if ! environment=$("$here/install.sh" "${XDG_CACHE_HOME:-${HOME:-$folder}/.cache}/kvbudget"); then
  if [ -n "${CI:-}" ]; then
    echo "failed: the engine cannot be installed"
    exit 1
  fi
  echo "skipped: the engine cannot be installed"
  exit 77
fi
# Not into the environment, which other checkouts use too; entry points are found on the path as well.
PATH=$environment/bin:$PATH "$environment/bin/uv" pip install --quiet --no-deps --no-index --no-cache \
  --no-build-isolation --reinstall -C build-dir="$folder/wheel" \
  -C cmake.define.CMAKE_CUDA_COMPILER=NOTFOUND \
  --python "$environment/bin/python" --target "$folder/package" "$repository"
export PYTHONPATH=$folder/package KVB_SERVING_FOLDER=$folder/files
"$environment/bin/python" -m kvbudget.vllm.check
cd "$here"
exec "$environment/bin/python" "$@"
