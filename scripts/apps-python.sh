#!/bin/sh
# Opt-in: numba-cuda and tinygrad from PyPI in an environment outside the repository, each running a small program of ours
# (testdata/apps/python) on Kudzu. A failure prints the functions they asked for that are not there.
#   scripts/apps-python.sh [NAME...]       KUDZU_TOOLS names the folder of the environment, KUDZU_DIST ours: default dist
set -eu
cd "$(dirname "$0")/.."
dist=${KUDZU_DIST:-$PWD/dist}
tools=${KUDZU_TOOLS:-${TMPDIR:-/tmp}/kudzu-tools}
env=$tools/python
if [ ! -f "$env/ready" ]; then
    echo "fetching numba-cuda and tinygrad" >&2
    rm -rf "$env"
    mkdir -p "$tools"
    python3 -m venv "$env"
    "$env/bin/pip" install -q --disable-pip-version-check 'numba-cuda[cu12]==0.30.4' tinygrad==0.14.0 numpy
    # The vendor's linker makes machine code for its processors; without it numba links through the driver, which is us.
    "$env/bin/pip" uninstall -q -y nvidia-nvjitlink-cu12
    touch "$env/ready"
fi
[ $# -gt 0 ] || set -- numba tinygrad
log=$(mktemp)
bad=0
mkdir -p "$tools/bin"
ln -sf "$(command -v "$(scripts/setup.sh clang)")" "$tools/bin/clang" # tinygrad prepares its random numbers with it, by that name
for name in "$@"; do
    if PATH=$tools/bin:$PATH DEV=CUDA:PTX KUDZU_LOG=debug PYTHONWARNINGS=ignore timeout "${KUDZU_APP_SECONDS:-300}" \
        "$dist/bin/kudzu" run "$env/bin/python" "testdata/apps/python/run_$name.py" >"$log.out" 2>"$log"; then
        cat "$log.out"
    else
        echo "== $name: exit $?"
        grep -v '^kudzu:' "$log" | tail -12 || true
        grep 'not implemented, called' "$log" || true
        bad=1
    fi
done
rm -f "$log" "$log.out"
exit $bad
