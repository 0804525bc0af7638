#!/bin/sh
# Opt-in: PTX of real programs. Fetches llama.cpp's CUDA builds by their npm names into .build/apps, takes every PTX module out
# of their fat binaries, and indexes, parses, checks and lowers all of it. Nothing of them is committed.
set -eu
cd "$(dirname "$0")/.."
apps=$PWD/.build/apps
mkdir -p "$apps"
command -v npm >/dev/null 2>&1 || { echo "kudzu: npm is missing: it fetches the programs" >&2; exit 1; }
for name in linux-x64-cuda linux-x64-cuda-ext; do
    dir=$apps/$name
    [ -d "$dir" ] && continue
    echo "fetching @node-llama-cpp/$name"
    (cd "$apps" && npm pack --silent "@node-llama-cpp/$name" >/dev/null)
    file=$(ls "$apps"/node-llama-cpp-"$name"-[0-9]*.tgz | tail -1)
    mkdir -p "$dir.part"
    tar -xzf "$file" -C "$dir.part"
    mv "$dir.part" "$dir"
    rm -f "$file"
done
go build -o "$apps/kudzu" ./cmd/kudzu
find "$apps" -name '*cuda*.so' -size +1M | sort | while read -r lib; do
    if "$apps/kudzu" check --quiet --fast "$lib"; then :; else
        status=$?
        [ "$status" = 3 ] && continue # no device code in it
        exit "$status"
    fi
done
# One library as far as LLVM's text: the modules a device of compute capability 9.0 gets.
"$apps/kudzu" check --quiet --sm=90 "$(find "$apps/linux-x64-cuda" -name 'libggml-cuda.so')"
# Thirty CUDA programs of our own, built by the vendor's compilers 12 and 13, against what a real GPU printed.
programs=${TMPDIR:-/tmp}/kudzu-programs
scripts/apps-cuda.sh build "$programs"
scripts/apps-cuda.sh run "$programs"
# The vendor's runtime 11.8 on our driver, and Python programs from the registries.
scripts/apps-runtime11.sh "$programs"
scripts/apps-python.sh
# llama.cpp itself, on request: its kernels take minutes to compile the first time.
if [ -n "${KUDZU_LLAMA:-}" ]; then
    scripts/apps/llama.sh text
    scripts/apps/llama.sh check F16 Q8_0
fi
