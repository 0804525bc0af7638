#!/bin/sh
# Opt-in: programs of others on Kudzu, in parts. Each part can be run alone and again: what it fetched and made is kept outside the
# repository, in $KUDZU_APPS (~/.cache/kudzu-apps) and $KUDZU_TOOLS (compilers, Python), and nothing of it is committed. A part
# that fails does not keep the next from running; the last lines say how each ended and how long it took, and the exit is 1.
#   scripts/apps.sh [PART...]    default: table, then programs runtime11 python, with KUDZU_LLAMA=1 llama, and ptx, the longest
# table is every part of scripts/apps/clients.txt, and docs/apps/README.md from them; a part of it can be named alone: jax, cupy, …
# Not by default: suites, the clients' own tests; compare, launches of some programs against the interpreter, 20 minutes at a
# time; capability, some programs at several compute capabilities; blender, a frame by Cycles; llama-text and llama-check,
# the two halves of llama.
set -eu
cd "$(dirname "$0")/.."
export KUDZU_APPS="${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}"
programs=${TMPDIR:-/tmp}/kudzu-programs
table=$(scripts/apps/clients.sh parts | tr '\n' ' ')
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2086
    set -- $table ptxas programs runtime11 python
    [ -z "${KUDZU_LLAMA:-}" ] || set -- "$@" llama
    set -- "$@" ptx
elif [ "$1" = table ]; then
    shift
    # shellcheck disable=SC2086
    set -- $table ptxas "$@"
fi

# Every PTX module of both of llama.cpp's CUDA builds: indexed, parsed, checked and lowered; one library as far as LLVM's text, the
# modules that a device of compute capability 8.9 gets.
part_ptx() {
    scripts/apps/llama.sh install || return 1
    packages=$KUDZU_APPS/llama/app/node_modules/@node-llama-cpp
    for name in linux-x64-cuda linux-x64-cuda-ext; do
        lib=$(find "$packages/$name" -name libggml-cuda.so)
        [ -n "$lib" ] || { echo "kudzu: $packages/$name has no libggml-cuda.so" >&2; return 1; }
        dist/bin/kudzu check --quiet --fast "$lib" || return 1
    done
    dist/bin/kudzu check --quiet --sm=80 "$(find "$packages/linux-x64-cuda" -name libggml-cuda.so)"
}

# Thirty CUDA programs of our own, built by the vendor's compilers 12 and 13 (those that 11.8 knows by it too), against what a real GPU printed.
part_programs() { scripts/apps-cuda.sh build "$programs" && scripts/apps-cuda.sh run "$programs"; }

# The vendor's runtime 11.8 on our driver.
part_runtime11() { scripts/apps-runtime11.sh "$programs"; }

# Python programs from the registries.
part_python() { scripts/apps-python.sh; }

# llama.cpp itself, on request: its kernels take minutes to compile the first time. The rows that users meet most; all of them:
# scripts/apps/llama.sh check.
part_llama_text() { scripts/apps/llama.sh text; }
part_llama() { part_llama_text && part_llama_check; }
part_llama_check() { scripts/apps/llama.sh check F16 Q8_0 Q4_K Q6_K; }

# Launches of the examples, llama.cpp and PyTorch, each on compiler and interpreter; it goes on where it was (docs/tools.md).
part_compare() { scripts/apps-compare.sh; }

# Programs at the compute capabilities that the default was chosen from.
part_capability() { scripts/apps-capability.sh; }

# A frame of Blender's Cycles against the CPU's; its kernels take minutes to compile the first time.
part_blender() { scripts/apps/blender.sh "$KUDZU_APPS/blender-out"; }

# A part of scripts/apps/clients.txt, against the programs' own CPU paths. The page is of all rows that there are.
clients() {
    rc=0
    scripts/apps/clients.sh "$1" || rc=$?
    scripts/apps/clients.sh page >/dev/null || true
    return "$rc"
}

results=$(mktemp)
bad=0
for part; do
    begin=$(date +%s)
    echo "== $part"
    rc=0
    case $part in
    ptx | programs | runtime11 | python | llama | llama-text | llama-check | compare | capability | blender) ("part_$(echo "$part" | tr - _)") || rc=$? ;;
    *) clients "$part" || rc=$? ;;
    esac
    if [ $rc = 0 ]; then how=ok; else how="FAILED (exit $rc)" bad=1; fi
    echo "$part: $how, $(($(date +%s) - begin)) s" >>"$results"
done
echo "== parts"
cat "$results"
rm -f "$results"
exit $bad
