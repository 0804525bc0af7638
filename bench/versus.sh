#!/bin/sh
# Two builds of Kudzu on the same rows, in turn: versus.sh HARNESS FIRST-LIBCUDA SECOND-LIBCUDA OUT [harness options]. Each row is
# run by the first, the second, the second and the first, ROUNDS times (3), in processes of their own, so that what else
# the machine does meets both alike. The figures go to OUT/first-N.json and OUT/second-N.json; `bench versus OUT` compares them.
set -eu
harness=$1 first=$2 second=$3 out=$4
shift 4
mkdir -p "$out"
rm -f "$out"/first-*.json "$out"/second-*.json
n=0
rows=$("$harness" -list "$@" | cut -d' ' -f1 | sort -u)
for row in $rows; do
    for side in $(yes first second second first | head -n "${ROUNDS:-3}"); do
        n=$((n + 1))
        if [ "$side" = first ]; then lib=$first; else lib=$second; fi
        # A warm-up compiles; what it prints is not kept.
        [ -e "$out/$side-$row.warm" ] || { "$harness" "$@" -row "$row" -no-pocl -reps 1 -lib "$lib" >/dev/null && : >"$out/$side-$row.warm"; }
        "$harness" "$@" -row "$row" -no-pocl -lib "$lib" -json "$out/$side-$n.json" >/dev/null || echo "versus: $row is wrong or failed on the $side" >&2
    done
done
rm -f "$out"/*.warm
