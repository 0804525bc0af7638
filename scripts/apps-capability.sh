#!/bin/sh
# Opt-in: programs of others at several compute capabilities, each twice: what the second run, which compiles nothing, got right, and its
# processor time. docs/compute-capability.md has the table that it made. Everything is fetched and made outside the repository, in
# $KUDZU_APPS (~/.cache/kudzu-apps if not set) and $KUDZU_TOOLS.
#   scripts/apps-capability.sh [PROGRAM...]     programs: cuda triton cupy warp numba llama, and as root torch; default: all
#                                               CAPABILITIES="8.9 9.0" tries only these
# A line a program and capability: how many results are right, and milliseconds; then what was not right. The last run's lines stay in
# $KUDZU_APPS/capability-out.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
export KUDZU_DIST="${KUDZU_DIST:-$root/dist}" KUDZU_APPS="${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}"
out=$KUDZU_APPS/capability-out env=$KUDZU_APPS/capability
models="Q4_0 Q4_K MXFP4"
mkdir -p "$out"
[ -x "$KUDZU_DIST/bin/kudzu" ] || { echo "capability: $KUDZU_DIST/bin/kudzu is missing: run make dist, or name the folder in KUDZU_DIST" >&2; exit 1; }

# prepare_X fetches; try_X prints lines "NAME right|wrong|failed MILLISECONDS WHY" at $KUDZU_COMPUTE_CAPABILITY.

prepare_python() {
    [ ! -e "$env/ready" ] || return 0
    rm -rf "$env"
    python3 -m venv "$env"
    "$env/bin/pip" install -q --disable-pip-version-check cupy-cuda12x==14.2.0 warp-lang==1.19.0 triton==3.9.0 'numba-cuda[cu12]==0.30.4' numpy
    # The vendor's linker makes machine code for its processors; without it numba links through the driver, which is us.
    "$env/bin/pip" uninstall -q -y nvidia-nvjitlink-cu12
    touch "$env/ready"
}

python() {
    CUPY_CACHE_DIR=$out/cupy CUPY_COMPILE_WITH_PTX=1 CUPY_ACCELERATORS=cub TRITON_CACHE_DIR=$out/triton TRITON_DEFAULT_FP_FUSION=1 WARP_CACHE_PATH=$out/warp \
        timeout 900 "$KUDZU_DIST/bin/kudzu" run -- "$env/bin/python" "$@"
}

try_cupy() { python scripts/apps/capability.py cupy; }
try_warp() { python scripts/apps/capability.py warp; }
try_triton() { python scripts/apps/capability.py triton; }

# whole NAME WANT COMMAND...: a program that is right when it prints a line, and the processor time of all of it.
whole() {
    name=$1 want=$2
    shift 2
    if { /bin/sh -c '"$@"; r=$?; times; exit $r' sh "$@" >"$out/whole.log" 2>&1; } && grep -q "$want" "$out/whole.log"; then how=right; else how=wrong; fi
    tail -1 "$out/whole.log" | tr 'ms' '  ' | awk -v n="$name" -v h=$how '{printf "%s %s %.0f\n", n, h, 1000 * (60 * $1 + $2 + 60 * $3 + $4)}'
}

try_numba() { whole numba/run 'numba ok' "$KUDZU_DIST/bin/kudzu" run -- "$env/bin/python" testdata/apps/python/run_numba.py; }

try_torch() { scripts/apps/torch.sh "$out" scripts/apps/capability.py torch; }

programs=${TMPDIR:-/tmp}/kudzu-programs
export KUDZU_APP_KINDS=13-static
prepare_cuda() { scripts/apps-cuda.sh build "$programs"; }
try_cuda() {
    for f in "$programs"/13-static/*; do
        name=${f##*/}
        whole "cuda/$name" ' ok$' env KUDZU_LIB="$KUDZU_DIST/lib" scripts/apps-cuda.sh run "$programs" "$name"
    done
}

# Logits against the package's CPU backend, within what is known of the type; then the processor time of a token.
llama() { (cd "$KUDZU_APPS/llama/app" && "$@"); }
prepare_llama() {
    scripts/apps/llama.sh install
    for q in $models; do
        f=$KUDZU_APPS/llama/models/15M-$q.gguf
        [ -e "$f" ] || go run ./internal/testkit/gguf/make -shape 15M -quant "$q" -o "$f"
        llama node "$root/scripts/apps/llama.mjs" logits cpu "$out/llama-cpu" "$f" 2>/dev/null
    done
}
try_llama() {
    to=$out/llama-$KUDZU_COMPUTE_CAPABILITY
    rm -rf "$to"
    for q in $models; do
        f=$KUDZU_APPS/llama/models/15M-$q.gguf
        LIBRARY=linux-x64-cuda/ llama "$KUDZU_DIST/bin/kudzu" run -- node "$root/scripts/apps/llama.mjs" logits cuda "$to" "$f" >/dev/null 2>&1 || true
        ONLY=$q node scripts/apps/llama.mjs near "$out/llama-cpu" "$to"
        LIBRARY=linux-x64-cuda/ llama "$KUDZU_DIST/bin/kudzu" run -- node "$root/scripts/apps/llama.mjs" speed cuda "$f" 2>&1 | sed -n "s|.*(\(.*\) ms of processor a token), .*(\(.*\) ms of.*|llama/$q-prompt right \1\nllama/$q-token right \2|p"
    done
}

[ $# -gt 0 ] || set -- cuda triton cupy warp numba llama torch
for program; do
    case $program in
    triton | cupy | warp | numba) prepare_python ;;
    cuda | llama) "prepare_$program" >&2 ;;
    torch) ;;
    *) echo "capability: there is no program $program" >&2; exit 2 ;;
    esac
    for c in ${CAPABILITIES:-8.9 9.0 12.0 12.1}; do
        export KUDZU_COMPUTE_CAPABILITY=$c
        for turn in cold warm; do "try_$program" >"$out/$program-$c.$turn" 2>"$out/$program-$c.err" || true; done
        awk -v p="$program" -v c="$c" '$2 ~ /^(right|wrong|failed)$/ {n++; if ($2 == "right") r++; else bad = bad "\n    " $0; ms += $3}
            END {printf "%-8s %-5s %d of %d right, %.1f ms%s\n", p, c, r, n, ms, bad}' "$out/$program-$c.warm"
    done
done
