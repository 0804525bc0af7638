#!/bin/sh
# Opt-in: every case file on one processor of the emulator, and the table of what came out.
#   scripts/amd/cases.sh plain|patched gfx1100 TABLE [CASE]     KUDZU_EMULATOR names the folder that get.sh made
# CASE is how the names of the cases begin that are wanted: all but fault/ unless told.
set -eu
[ $# -ge 3 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
mode=$1 arch=$2 table=$3 only=${4:-}
case $table in /*) ;; *) table=$PWD/$table ;; esac
cd "$(dirname "$0")/../.."
mkdir -p .build
go test -c -o .build/cases.test ./internal/testkit
cd internal/testkit
KUDZU_HIP_CASES=1 KUDZU_HIP_TABLE=$table exec ../../scripts/amd/run.sh "$mode" "$arch" \
    ../../.build/cases.test -test.run '^TestCasesHIP$' -test.timeout 300m -test.v ${only:+-only="$only"}
