#!/bin/sh
# Builds the examples into .build/examples: each kernel.cu to PTX with clang (no vendor files), each host.c against our
# cuda.h and libcuda. With "run" it also runs them on Kudzu and says how it went; every example checks its own result.
set -eu
cd "$(dirname "$0")/.."
out=.build/examples
mkdir -p "$out"
clang=$(scripts/setup.sh clang)
for dir in examples/*/; do
    name=$(basename "$dir")
    ptx="$out/$name.ptx"
    if [ ! -e "$ptx" ] || [ "$dir/kernel.cu" -nt "$ptx" ] || [ examples/device.h -nt "$ptx" ]; then
        "$clang" -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_70 --cuda-feature=+ptx70 \
            -O2 -ffp-contract=off -S -o "$ptx" "$dir/kernel.cu"
    fi
    if [ ! -e "$out/$name" ] || [ "$dir/host.c" -nt "$out/$name" ] || [ examples/host.h -nt "$out/$name" ] || [ "$ptx" -nt "$out/$name" ]; then
        gcc -O2 -Wall -Wno-unused-function -Wno-format-truncation -ffp-contract=off -Iinclude "-DKERNEL_FILE=\"$ptx\"" -o "$out/$name" "$dir/host.c" \
            -Ldist/lib -lcuda -Wl,-rpath-link,dist/lib -lm
    fi
done
[ "${1:-}" = run ] || exit 0
failed=0
for dir in examples/*/; do
    name=$(basename "$dir")
    echo "== $name"
    if ! dist/bin/kudzu run -- "$out/$name" "$out"; then failed=$((failed + 1)); fi
done
if [ "$failed" != 0 ]; then echo "$failed examples FAILED"; exit 1; fi
echo "all examples succeeded; $out/mandelbrot.png is a picture to look at"
