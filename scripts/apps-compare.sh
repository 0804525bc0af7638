#!/bin/sh
# Opt-in: launches of the examples, llama.cpp and PyTorch, with FULL=1 of CuPy (CUB, Thrust, NVRTC) too, each compared with another
# executor by kudzu compare (docs/tools.md). Everything is fetched and made outside the repository, in $KUDZU_APPS
# (~/.cache/kudzu-apps if not set): several GB.
#   scripts/apps-compare.sh [UNIT...]     units: examples, llama:TYPE, torch (as root: it makes a Debian 13 in a folder), and with
#                                         FULL=1 torch:GROUP, cupy:GROUP, by the groups of scripts/apps/compare_*.py; default: all
#   scripts/apps-compare.sh report        only what was reported so far
#   scripts/apps-compare.sh page          writes it to docs/tools.md
# MINUTES=20: what is not through by then is left, and the next run goes on there; 0: no limit. A unit that is through is not run again
# with the same Kudzu. FULL=1: all types and all sizes of batches, which takes hours. WITH=cpu:avx2: not with the interpreter.
# LAUNCHES=1: so many launches of each kernel and block shape; 4, or with FULL=1 16.
# The exit is 1 if a program fails, or if a launch differs and docs/numerics.md does not say why.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
dist=${KUDZU_DIST:-$root/dist}
apps=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}
with=${WITH:-interp} full=${FULL:-} minutes=${MINUTES:-20}
[ -z "$full" ] || minutes=${MINUTES:-0}
begin=$(date +%s)
# Fast code only: by default kernels begin on baseline code, and which one a launch ran would be chance. KUDZU_TIER=baseline for that.
export KUDZU_APPS="$apps" KUDZU_DIST="$dist" KUDZU_TIER="${KUDZU_TIER:-optimised}"
out=$apps/compare/$KUDZU_TIER-$(echo "$with" | tr : -)
mkdir -p "$out"
[ -x "$dist/bin/kudzu" ] || { echo "compare: $dist/bin/kudzu is missing: run make dist, or name the folder in KUDZU_DIST" >&2; exit 1; }

# left: seconds that are left; a day where there is no limit.
left() { if [ "$minutes" = 0 ]; then echo 86400; else echo $((begin + 60 * minutes - $(date +%s))); fi; }

# unit_X FOLDER GROUP: runs one. The options of kudzu compare are in $options; it makes FOLDER/NAME/report.jsonl.

unit_examples() {
    scripts/examples.sh || return 1
    for dir in examples/*/; do
        name=$(basename "$dir")
        # shellcheck disable=SC2086
        KUDZU_EXAMPLE_SMALL=1 "$dist/bin/kudzu" compare $options -o "$1/$name" -- ".build/examples/$name" .build/examples || return 1
    done
}

unit_llama() {
    what=text
    [ -z "$full" ] || what=sizes
    TOOL="compare $options -o $1/$what" BUILDS=13 scripts/apps/llama.sh $what "$2"
}

unit_cupy() {
    env=$apps/cupy
    if [ ! -e "$env/ready" ]; then
        rm -rf "$env"
        python3 -m venv "$env"
        "$env/bin/pip" install -q --disable-pip-version-check cupy-cuda12x==14.2.0 nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 || return 1
        touch "$env/ready"
    fi
    # Its own kernels are PTX for 10.0 and 12.0; CUPY_COMPILE_WITH_PTX has NVRTC make PTX instead of machine code.
    # shellcheck disable=SC2086
    CUPY_CACHE_DIR=$out/cupy-cache CUPY_COMPILE_WITH_PTX=1 CUPY_ACCELERATORS=cub KUDZU_COMPUTE_CAPABILITY=12.0 \
        "$dist/bin/kudzu" compare $options -o "$1/report" -- "$env/bin/python" scripts/apps/compare_cupy.py "$2"
}

# PyTorch's operations that ran are in FOLDER/done: each turn has a report of its own, and does those that are left.
unit_torch() {
    turn=$1/$(date +%s)
    few=--few
    [ -z "$full" ] || few=
    mkdir -p "$apps/compare"
    # shellcheck disable=SC2086
    TOOL="compare $options -o /out/${turn#"$apps/compare/"}" \
        scripts/apps/torch.sh "$apps/compare" scripts/apps/compare_torch.py $few --seconds "$(($(left) - 30))" --keep "/out/${1#"$apps/compare/"}" $2
}

units() {
    if [ -z "$full" ]; then
        echo examples llama:Q4_0 llama:Q4_K_M llama:F16 llama:Q8_0 torch
        return
    fi
    echo examples
    for t in F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ2_XXS IQ3_S IQ4_NL; do echo "llama:$t"; done
    for g in unary binary reduce cast index sort shape nn random foreach optim bits linalg; do echo "torch:$g"; done
    for g in sort scan reduce select histogram random elementwise index linalg; do echo "cupy:$g"; done
}

# One unit, as far as the time goes.
compare() {
    part=${1%%:*} group=
    [ "$part" = "$1" ] || group=${1#*:}
    case $part in examples | llama | torch | cupy) ;; *) echo "compare: there is no unit $1" >&2; return 2 ;; esac
    dir=$out/$part${full:+-full}${group:+-$group}
    if [ "$(cat "$dir/build" 2>/dev/null)" != "$build" ]; then
        rm -rf "$dir"
        mkdir -p "$dir"
        echo "$build" >"$dir/build"
    fi
    [ ! -e "$dir/ok" ] || return 0
    [ "$(left)" -gt 60 ] || { echo "compare: $1 is left: no time" >&2; return 0; }
    echo "== $1"
    # Few launches of each kernel and block shape, so that each has its turn. The interpreter takes long for llama.cpp's products.
    launches=${LAUNCHES:-4} seconds=10
    [ -z "$full" ] || launches=${LAUNCHES:-16} seconds=40
    [ "$part" != llama ] || seconds=60
    options="--with $with --launches $launches --seconds $seconds"
    rc=0
    # A unit of its own process group, which the time limit ends as a whole.
    UNIT=$part OPTIONS=$options timeout -k 20 "$(left)" "$0" --unit "$dir" "$group" || rc=$?
    if [ $rc = 124 ]; then echo "compare: $1 is left: no time" >&2; return 0; fi
    if [ $rc = 0 ] && { [ "$part" != torch ] || [ "$(wc -l <"$dir/through")" -ge "$([ -n "$group" ] && echo 1 || echo 13)" ]; }; then touch "$dir/ok"; fi
    return $rc
}

reports() { find "$out" -path "$out/$1/*" -name report.jsonl; }

# A row of the table for each program.
rows() {
    echo "| program | launches | compared | kernels | same | explained | different | skipped |"
    echo "|---|---|---|---|---|---|---|---|"
    bad=0
    row() { # FOLDERS NAME
        files=$(reports "$1")
        # shellcheck disable=SC2086
        [ -z "$files" ] || go run ./internal/testkit/compared -row "$2" $files || bad=1
    }
    row examples "the examples"
    for dir in "$out"/llama-[A-Z]*; do [ ! -d "$dir" ] || row "${dir##*/}" "llama.cpp, npm's CUDA 13 build, ${dir##*/llama-}: a prompt and 16 tokens"; done
    row 'llama-full*' "llama.cpp, npm's CUDA 13 build: batches of 19 sizes"
    for dirs in torch 'torch-full*'; do
        seen=$(find "$out" -path "$out/$dirs/operators" -exec sort -u {} +)
        row "$dirs" "PyTorch 2.6 of Debian 13: $(echo "$seen" | cut -d' ' -f1 | sort -u | wc -l) operators, $(echo "$seen" | wc -l) with their types"
    done
    row 'cupy-full*' "CuPy 14 (CUB, Thrust, NVRTC)"
    return $bad
}

case ${1:-} in
--unit)
    options=$OPTIONS
    "unit_$UNIT" "$2" "$3"
    exit
    ;;
page)
    table=$(mktemp)
    trap 'rm -f "$table"' EXIT
    { echo; rows || true; echo; } >"$table"
    sed -i -e "/^<!-- rows $with: scripts.apps-compare.sh page -->/,/^<!-- end of rows -->/{ /^<!--/!d }" -e "/^<!-- rows $with:/r $table" docs/tools.md
    exit
    ;;
report) ;;
*)
    build=$(cat "$dist/bin/kudzu" "$dist/lib/libkudzu.so" | sha256sum)
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $(units)
    failed=
    for unit; do compare "$unit" || failed="$failed $unit"; done
    ;;
esac
rc=0
rows || rc=1
# shellcheck disable=SC2046
[ -z "$(reports '*')" ] || go run ./internal/testkit/compared $(reports '*') || rc=1
[ -z "${failed:-}" ] || { echo "compare: these failed:$failed" >&2; rc=1; }
exit $rc
