#!/bin/sh
# Opt-in: kernels of PyTorch, CuPy (CUB, Thrust, NVRTC) and llama.cpp, launched on small data and compared with the interpreter
# (docs/tools.md). Everything is fetched and made outside the repository, in $KUDZU_APPS (~/.cache/kudzu-apps if not set): several GB.
# A first run compiles some thousand kernels, which takes hours; what a part has reported is kept until it is run again.
#   scripts/apps-compare.sh [PART[:GROUP]...]     parts: cupy, llama, torch (as root: it makes a Debian 13 in a folder); default: all
#                                                 groups: those of scripts/apps/compare_PART.py, or llama.cpp's quantisations
#   scripts/apps-compare.sh report                only what was reported so far
# The exit is 1 if a launch differs and docs/numerics.md does not say why.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
dist=${KUDZU_DIST:-$root/dist}
apps=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}
out=$apps/compare
mkdir -p "$out"
export KUDZU_APPS="$apps" KUDZU_COMPARE="${KUDZU_COMPARE:-launches=16,seconds=40}" KUDZU_COMPARE_DUMP="$out/dump"
[ -x "$dist/bin/kudzu" ] || { echo "compare: $dist/bin/kudzu is missing: run make dist, or name the folder in KUDZU_DIST" >&2; exit 1; }

# part_X GROUP: runs one group. KUDZU_COMPARE_REPORT is set.

part_llama() { KUDZU_DIST=$dist scripts/apps/llama.sh sizes "$@"; }

part_cupy() {
    env=$apps/cupy
    if [ ! -e "$env/ready" ]; then
        rm -rf "$env"
        python3 -m venv "$env"
        "$env/bin/pip" install -q --disable-pip-version-check cupy-cuda12x==14.2.0 nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 || return 1
        touch "$env/ready"
    fi
    # Its own kernels are PTX for 10.0 and 12.0; CUPY_COMPILE_WITH_PTX has NVRTC make PTX instead of machine code.
    CUPY_CACHE_DIR=$out/cupy-cache CUPY_COMPILE_WITH_PTX=1 CUPY_ACCELERATORS=cub KUDZU_COMPUTE_CAPABILITY=12.0 \
        "$dist/bin/kudzu" run -- "$env/bin/python" scripts/apps/compare_cupy.py "$@"
}

part_torch() {
    KUDZU_DIST=$dist KUDZU_COMPARE_DUMP=/out/dump KUDZU_COMPARE_REPORT=/out/${KUDZU_COMPARE_REPORT##*/} \
        scripts/apps/torch.sh "$out" scripts/apps/compare_torch.py "$@"
}

if [ "${1:-}" != report ]; then
    [ $# -gt 0 ] || set -- cupy llama torch
    bad=0
    for name; do
        part=${name%%:*} group=
        [ "$part" = "$name" ] || group=${name#*:}
        case $part in cupy | llama | torch) ;; *) echo "compare: there is no part $part" >&2; exit 2 ;; esac
        export KUDZU_COMPARE_REPORT="$out/$part${group:+-$group}.report"
        rm -f "$KUDZU_COMPARE_REPORT"
        echo "== $name"
        # shellcheck disable=SC2086
        "part_$part" $group || { echo "compare: $name failed" >&2; bad=1; }
    done
    [ $bad = 0 ] || exit 1
fi
go run ./internal/testkit/compared "$out"/*.report
