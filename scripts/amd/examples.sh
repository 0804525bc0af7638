#!/bin/sh
# Opt-in: the examples, small, through the whole stack on the double of libamdhip64, their kernels executed by the emulator; the checksums
# must be those of the CPU.
#   scripts/amd/examples.sh plain|patched gfx1100     after `make examples`; KUDZU_EMULATOR names the folder that get.sh made
set -eu
cd "$(dirname "$0")/../.."
export KUDZU_EXAMPLE_SMALL=1
if [ "${1:-}" != run ]; then
    [ $# -eq 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cc -O1 -shared -fPIC -o "$work/libamdhip64.so.6" internal/backend/hip/testdata/double/*.c -lpthread
    for name in examples/*/; do
        name=$(basename "$name")
        KUDZU_BACKEND=cpu dist/bin/kudzu run -- ".build/examples/$name" "$work" | grep '^result:' >"$work/$name.cpu"
    done
    KUDZU_HIP_LIBRARY=$work/libamdhip64.so.6 scripts/amd/run.sh "$1" "$2" scripts/amd/examples.sh run "$work"
    exit
fi
bad=0
for file in "$2"/*.cpu; do
    name=$(basename "$file" .cpu)
    start=$(date +%s)
    if KUDZU_BACKEND=hip KUDZU_CACHE_DIR=$2/cache dist/bin/kudzu run -- ".build/examples/$name" "$2" >"$2/out" 2>&1 && grep '^result:' "$2/out" | cmp -s - "$file"; then
        echo "$name: ok, $(($(date +%s) - start)) s"
    else
        echo "$name: FAILED"
        tail -5 "$2/out"
        bad=1
    fi
done
exit $bad
