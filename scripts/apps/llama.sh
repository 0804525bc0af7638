#!/bin/sh
# Opt-in: llama.cpp's CUDA builds, as npm has them, on Kudzu. Everything is fetched and made outside the repository, in
# $KUDZU_APPS/llama (~/.cache/kudzu-apps/llama if not set).
#   scripts/apps/llama.sh install          only fetches the package
#   scripts/apps/llama.sh text [TYPE...]   a few tokens with each build, or those in BUILDS; Q4_0 if none is named
#   scripts/apps/llama.sh check [TYPE...]  logits against the package's CPU backend; all types if none is named. Rows that this very
#                                          Kudzu has computed are kept: after an interruption it goes on where it was
#   scripts/apps/llama.sh sizes [TYPE...]  batches of every size that has a kernel of its own, with the build for CUDA 13
#   scripts/apps/llama.sh page             writes docs/apps/zllama.md from what check left
#   scripts/apps/llama.sh speed TYPE...    tokens a second, Kudzu beside the CPU backend     (SHAPE=1.1B for the large model)
#   scripts/apps/llama.sh first TYPE...    seconds to the first tokens: the CPU backend, Kudzu with an empty cache, and again with what it left
# TOOL is what kudzu does with a program, run if not set: TOOL="compare -o report".
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
dist=${KUDZU_DIST:-$root/dist}
apps=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}/llama
shape=${SHAPE:-15M}
types="F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ1_S IQ1_M IQ4_NL IQ4_XS Q4_K_M"
what=${1:-text}
[ $# -eq 0 ] || shift
for tool in node npm go; do
    command -v $tool >/dev/null 2>&1 || { echo "llama: $tool is missing" >&2; exit 1; }
done
node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' || { echo "llama: node $(node --version) is too old: the package needs 20 or newer" >&2; exit 1; }
[ -x "$dist/bin/kudzu" ] || { echo "llama: $dist/bin/kudzu is missing: run make dist, or name the folder in KUDZU_DIST" >&2; exit 1; }

# The package, with its builds for CUDA 13 and 12 as optional dependencies, which npm leaves out without a word when it cannot
# fetch them.
package() {
    mkdir -p "$apps/app" "$apps/models" "$apps/out"
    if [ ! -e "$apps/app/ready" ]; then
        echo "fetching node-llama-cpp" >&2
        (cd "$apps/app" && npm init -y >/dev/null && npm install --silent --ignore-scripts node-llama-cpp@3.22.1) || { echo "llama: npm install failed" >&2; exit 1; }
        for build in cuda cuda-ext; do
            [ -d "$apps/app/node_modules/@node-llama-cpp/linux-x64-$build" ] || { echo "llama: npm did not install @node-llama-cpp/linux-x64-$build" >&2; exit 1; }
        done
        touch "$apps/app/ready"
    fi
}

model() { # TYPE: prints its file
    f=$apps/models/$shape-$1.gguf
    [ -e "$f" ] || { go run ./internal/testkit/gguf/make -shape "$shape" -quant "$1" -o "$f.part" && mv "$f.part" "$f"; }
    echo "$f"
}

# kudzu BUILD ARG...: node on Kudzu. The package takes its build for CUDA 12 where the libraries of 13 are missing, so for
# it Kudzu is installed without them.
kudzu() {
    build=$1
    shift
    home=$dist
    if [ "$build" = 12 ]; then
        home=$apps/kudzu12
        rm -rf "$home"
        mkdir -p "$home" && cp -a "$dist/bin" "$dist/lib" "$home/" || return 1
        rm -f "$home"/lib/*.so.13 "$home/lib/libcudart.so"
    fi
    library=linux-x64-cuda/
    [ "$build" = 13 ] || library=linux-x64-cuda-ext/
    (cd "$apps/app" && LIBRARY=$library "$home/bin/kudzu" ${TOOL:-run} -- node "$root/scripts/apps/llama.mjs" "$@") ||
        { echo "llama: the CUDA $build build failed: $*" >&2; return 1; }
}

# fresh: forgets the rows of a type that another Kudzu computed.
fresh() {
    now=$(cat "$dist/bin/kudzu" "$dist/lib/libkudzu.so" | sha256sum)
    if [ "$now" != "$(cat "$apps/out/$shape-$1.kudzu" 2>/dev/null)" ]; then
        rm -f "$apps/out/cuda13/$shape-$1-fa"* "$apps/out/cuda12/$shape-$1-fa"*
        echo "$now" >"$apps/out/$shape-$1.kudzu"
    fi
}

check() {
    failed=
    for q; do
        f=$(model "$q")
        fresh "$q"
        (cd "$apps/app" && node "$root/scripts/apps/llama.mjs" logits cpu "$apps/out/cpu" "$f") || { echo "llama: the CPU backend failed: $f" >&2; return 1; }
        kudzu 13 logits cuda "$apps/out/cuda13" "$f" || failed="$failed $q"
        kudzu 12 logits cuda "$apps/out/cuda12" "$f" || failed="$failed $q"
    done
    table "$@" || { echo "llama: rows in bold are beyond their bound, or were not run" >&2; return 1; }
    [ -z "$failed" ] || { echo "llama: these did not run:$failed" >&2; return 1; }
}

# The bound of a row is twice what an H200 was recorded to be off (llama.h200.txt says how).
table() { SHAPE=$shape ORDER="$types" ONLY="$*" node scripts/apps/llama.mjs page "$apps/out/cpu" scripts/apps/llama.h200.txt "CUDA 13=$apps/out/cuda13" "CUDA 12=$apps/out/cuda12"; }

package
case $what in
install) ;;
text)
    [ $# -gt 0 ] || set -- Q4_0
    bad=0
    for q; do
        f=$(model "$q")
        for build in ${BUILDS:-13 12}; do kudzu "$build" text cuda "$f" || bad=1; done
    done
    exit $bad
    ;;
check)
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $types
    check "$@"
    ;;
sizes)
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $types
    for q; do
        f=$(model "$q")
        kudzu 13 sizes cuda "$f"
    done
    ;;
page)
    table >docs/apps/zllama.md || echo "llama: some rows are beyond their bound" >&2
    ;;
speed)
    for q; do
        f=$(model "$q")
        (cd "$apps/app" && node "$root/scripts/apps/llama.mjs" speed cpu "$f")
        kudzu 13 speed cuda "$f"
    done
    ;;
first)
    KUDZU_CACHE_DIR=$(mktemp -d)
    export KUDZU_CACHE_DIR
    trap 'rm -rf "$KUDZU_CACHE_DIR"' EXIT
    for q; do
        f=$(model "$q")
        (cd "$apps/app" && node "$root/scripts/apps/llama.mjs" first cpu "$f")
        rm -rf "$KUDZU_CACHE_DIR"
        mkdir -p "$KUDZU_CACHE_DIR"
        for cache in cold warm; do
            echo "$cache cache:"
            kudzu 13 first cuda "$f"
        done
    done
    ;;
*) sed -n '2,14p' "$0" >&2; exit 2 ;;
esac
