#!/bin/sh
# Opt-in: a command with the double of libamdhip64 as its HIP, whose kernels an emulator executes (docs/amd.md, "On an emulator").
#   scripts/amd/run.sh plain|patched gfx1100 COMMAND...     KUDZU_EMULATOR names the folder that get.sh made
# KUDZU_EMULATOR_LOG is where the runner writes each launch and how long it took.
set -eu
[ $# -ge 3 ] && [ -n "${KUDZU_EMULATOR:-}" ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mode=$1 arch=$2
shift 2
work=$(mktemp -d)
runner=
trap 'kill $runner 2>/dev/null || :; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir "$work/bin"
ln -s "$(command -v "$("$here/../setup.sh" clang)")" "$work/bin/clang" # the emulator compiles with it, by that name
mkfifo "$work/ready"
PATH=$work/bin:$PATH python3 "$here/runner.py" "$work/sock" "$work/arena" "$mode" "${KUDZU_EMULATOR_LOG:-$work/log}" >"$work/ready" &
runner=$!
read -r _ <"$work/ready"
export KUDZU_DOUBLE_RUNNER="$work/sock" KUDZU_DOUBLE_ARENA="$work/arena" KUDZU_DOUBLE_DEVICES="$arch"
"$@"
