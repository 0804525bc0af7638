#!/bin/sh
# Opt-in: the emulator that docs/amd.md speaks of, into a folder outside of the repository.
#   KUDZU_EMULATOR_GIT=REPOSITORY scripts/amd/get.sh FOLDER
# REPOSITORY is tinygrad's, as git takes it: an address, or a clone on this machine. Only its library and the emulator are taken.
set -eu
commit=a9069c177a9da9cca18593edf55acd2e6073cca6
[ $# -eq 1 ] && [ -n "${KUDZU_EMULATOR_GIT:-}" ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
to=$1
mkdir -p "$to"
[ -z "$(ls -A "$to")" ] || { echo "$to is not empty" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git init -q --bare "$work/git"
git -C "$work/git" fetch -q --depth 1 "$KUDZU_EMULATOR_GIT" "$commit" 2>/dev/null ||
    { git -C "$work/git" fetch -q "$KUDZU_EMULATOR_GIT" HEAD && git -C "$work/git" cat-file -e "$commit"; }
git -C "$work/git" archive "$commit" tinygrad test/__init__.py test/amd test/mockgpu | tar -x -C "$to"
echo "KUDZU_EMULATOR=$(cd "$to" && pwd)"
