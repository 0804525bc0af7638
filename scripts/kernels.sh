#!/bin/sh
# Compiles the kernels of the library shims and the device runtime to the PTX beside them: internal/shim/*/kernels/*.cu,
# internal/devrt/*.cu, internal/devrt/c/*.c. The PTX is committed, so that a build needs no clang; run this after changing a kernel.
set -eu
cd "$(dirname "$0")/.."
clang=$(scripts/setup.sh clang)
for src in internal/shim/*/kernels/*.cu; do
    # sm_61 is the least any of them needs (dp4a); devices of every higher capability take it.
    "$clang" -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_61 --cuda-feature=+ptx64 \
        -O2 -S -o "${src%.cu}.ptx" "$src"
done
for src in internal/devrt/*.cu; do
    # Appended to programs' modules, of whatever version and target these are.
    "$clang" -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_50 -fno-builtin -Os -S -o "${src%.cu}.ptx" "$src"
done
for src in internal/devrt/c/*.c; do
    # The engine's sampler, as C that a GPU runs: no libc, no tables, every product and sum rounded by itself.
    name=$(basename "$src" .c)
    "$clang" -target nvptx64-nvidia-cuda -march=sm_50 -x c -std=gnu11 -ffreestanding -ffp-contract=off -fno-jump-tables -fno-unroll-loops \
        -Wall -Wno-unused-function -Iinternal/devrt/c -O2 -S -o "internal/devrt/$name.ptx" "$src"
done
