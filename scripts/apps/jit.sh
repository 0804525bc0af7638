#!/bin/sh
# Opt-in: clients from PyPI that make PTX or NVVM IR while they run, unmodified, each case against the client's own CPU path.
#   scripts/apps/jit.sh [CLIENT[:CAPABILITY]...]   the newest release is fetched once; default: every client at its capabilities
#   scripts/apps/jit.sh ptxas                      times our ptxas and NVIDIA's on the kernels that Triton left in its caches
#   scripts/apps/jit.sh page                       writes docs/apps/README.md and docs/apps/zjit.md from the rows that there are
# CASES="name name" runs only these. A case that has a row is not run again: a run that was stopped continues, and AGAIN=1 starts
# anew, with empty caches. Environments, caches and rows are in $KUDZU_APPS/jit (~/.cache/kudzu-apps/jit); KUDZU_DIST names ours.
set -eu
cd "$(dirname "$0")/../.."
dist=${KUDZU_DIST:-$PWD/dist}
apps=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}/jit
mkdir -p "$apps/rows"

# A client is a row: its name, the environment that it shares with others, its capabilities, and what pip installs.
# scripts/apps/jit_<name>.py has its cases, or runs its own tests; what stands behind an @ in a name is a release or a path in it, and the program sees it in CLIENT.
clients() {
    cat <<'END'
triton torch 8.0,9.0,12.0 torch numpy
compile torch 8.9 torch numpy
cupy cupy 8.9 cupy-cuda12x numpy
tinygrad tinygrad 8.9 tinygrad numpy
tinygrad@nvrtc tinygrad 8.9 tinygrad numpy
jax jax 8.9,12.1 jax[cuda13]
numba-suite numba 8.9 numba-cuda[cu12] numpy psutil cffi ml_dtypes filecheck pytest
warp-suite warp 8.9 warp-lang numpy
warp-suite@1.10 warp@1.10 8.9 warp-lang==1.10.* numpy
END
}

# environment NAME PACKAGE...
environment() {
    at=$apps/$1
    shift
    [ ! -e "$at/ready" ] || return 0
    echo "jit: fetching $*" >&2
    rm -rf "$at"
    "${PYTHON:-python3}" -m venv "$at"
    "$at/bin/pip" install -q --disable-pip-version-check "$@"
    touch "$at/ready"
}

# client NAME CAPABILITY: fails where a row does.
client() {
    line=$(clients | grep "^$1 ") || { echo "jit: there is no client $1" >&2; return 2; }
    # shellcheck disable=SC2086
    set -- "$2" $line
    capability=$1 name=$2 env=$3 rows=$apps/rows/$2-$1 cache=$apps/cache/$2-$1
    shift 4
    environment "$env" "$@" || return 1
    if [ ! -e "$rows" ] || [ -n "${AGAIN:-}" ]; then rm -rf "$rows" "$rows.running" "$cache"; fi
    mkdir -p "$cache"
    # The client's caches and ours are below HOME: empty before the first run. A case that failed ends its process.
    while :; do
        rc=0 was=$(cat "$rows.running" 2>/dev/null || true)
        # shellcheck disable=SC2086
        HOME=$cache XDG_CACHE_HOME=$cache TORCHINDUCTOR_CACHE_DIR=$cache/inductor KUDZU_COMPUTE_CAPABILITY=$capability ROWS=$rows CLIENT=$name PYTHONWARNINGS=ignore \
            timeout "${KUDZU_APP_SECONDS:-900}" "$dist/bin/kudzu" run --stats="$rows.stats" -- "$apps/$env/bin/python" "scripts/apps/jit_${name%@*}.py" ${CASES:-} || rc=$?
        [ $rc = 0 ] && break
        [ $rc = 75 ] || { [ -e "$rows.running" ] && [ "$(cat "$rows.running")" != "$was" ]; } || return $rc
    done
    ! grep -qE '"status": "(wrong|failed)"' "$rows"
}

# NVIDIA's assembler, to measure ours against: nothing else uses it.
ptxas() {
    environment ptxas nvidia-cuda-nvcc || return 1
    theirs=$(find "$apps/ptxas/lib" -name ptxas -type f) && [ -n "$theirs" ] || { echo "jit: the package has no ptxas" >&2; return 1; }
    "${PYTHON:-python3}" scripts/apps/ptxas.py "$dist/bin/ptxas" "$theirs" "$apps/cache" "$apps/rows/ptxas.json"
}

# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(clients | cut -d' ' -f1)
bad=0
for what; do
    case $what in
    ptxas) ptxas || bad=1 ;;
    page) "${PYTHON:-python3}" scripts/apps/page.py "$apps/rows" || bad=1 ;;
    *:*) client "${what%:*}" "${what#*:}" || bad=1 ;;
    *) for c in $(clients | awk -v n="$what" '$1 == n {gsub(",", " ", $3); print $3}' | grep . || echo none); do client "$what" "$c" || bad=1; done ;;
    esac
done
exit $bad
