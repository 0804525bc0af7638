#!/bin/sh
# Opt-in: the recorded jobs of textures and surfaces, and odd forms of their instructions, on one processor of the emulator.
#   scripts/amd/textures.sh plain|patched gfx1100 [EVERY [JOB]]     KUDZU_EMULATOR names the folder that get.sh made
# EVERY takes one job of so many (20 unless told), JOB is how the names of those wanted begin.
set -eu
[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
mode=$1 arch=$2 every=${3:-20} job=${4:-}
cd "$(dirname "$0")/../.."
mkdir -p .build
go test -c -o .build/texels.test ./internal/testkit/texels
cd internal/testkit/texels
KUDZU_HIP_CASES=1 exec ../../../scripts/amd/run.sh "$mode" "$arch" \
    ../../../.build/texels.test -test.run '^TestReal' -test.timeout 300m -test.v -every "$every" ${job:+-job "$job"}
