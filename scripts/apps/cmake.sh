#!/bin/sh
# Opt-in: builds and tests testdata/cc/cmake with our nvcc, with CMake of the machine and the newest of PyPI.
#   scripts/apps/cmake.sh [SOURCE]     another project's folder; CMAKE_ARGS="-D…" has what it needs
# Builds are in $KUDZU_APPS/cmake (~/.cache/kudzu-apps/cmake); KUDZU_DIST names ours.
set -eu
cd "$(dirname "$0")/../.."
dist=${KUDZU_DIST:-$PWD/dist}
apps=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}/cmake
source=${1:-$PWD/testdata/cc/cmake}
mkdir -p "$apps"
if [ ! -x "$apps/env/bin/cmake" ]; then
    "${PYTHON:-python3}" -m venv "$apps/env"
    "$apps/env/bin/pip" install -q --disable-pip-version-check cmake ninja
fi

# build FOLDER CMAKE OPTION...: a line, and the exit of the tests.
build() {
    folder=$apps/$1 cmake=$2
    shift 2
    rm -rf "$folder"
    # shellcheck disable=SC2086
    "$cmake" -S "$source" -B "$folder" "$@" ${CMAKE_ARGS:-} >"$folder.log" 2>&1 &&
        "$cmake" --build "$folder" >>"$folder.log" 2>&1 &&
        (cd "$folder" && "$(dirname "$cmake")/ctest" --output-on-failure) >>"$folder.log" 2>&1 || { tail -n 30 "$folder.log" >&2; return 1; }
    echo "$("$cmake" --version | sed -n '1s/cmake version/CMake/p') $*: $(grep -o '[0-9]*% tests passed.*' "$folder.log")"
}

bad=0
cuda="-DCMAKE_CUDA_COMPILER=$dist/bin/nvcc"
system=$(command -v cmake || true)
[ -z "$system" ] || build make "$system" "$cuda" "-DCMAKE_CUDA_ARCHITECTURES=80;90" || bad=1
PATH=$apps/env/bin:$PATH
build ninja "$apps/env/bin/cmake" -G Ninja "$cuda" -DCMAKE_CUDA_ARCHITECTURES=all-major || bad=1
# As users do who have nvcc in the path, and say nothing.
PATH=$dist/bin:$PATH
build path "$apps/env/bin/cmake" -G Ninja || bad=1
exit $bad
