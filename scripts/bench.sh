#!/bin/sh
# The bench suite: every row's kernel on Kudzu, its C on gcc and clang (-O3 -march=native -ffast-math), its OpenCL on PoCL,
# in one process, interleaved. All options go to the harness, except
#   scripts/bench.sh -row NAME[,NAME]     only these rows (a name, a module's name, or prefix*)
#   scripts/bench.sh -asm NAME            what Kudzu makes of a row: PTX, IR, LLVM, assembly under .build/bench/asm
#   scripts/bench.sh -build               builds only
#   scripts/bench.sh -ptx                 writes bench/kernels/*.ptx again from the .cu files
# See docs/bench/README.md.
set -eu
cd "$(dirname "$0")/.."
out=.build/bench
mkdir -p "$out"
flags="-O3 -march=native -ffast-math"

# newer OUTPUT INPUT...: is the output missing, or older than an input?
newer() {
    o=$1
    shift
    [ -e "$o" ] || return 0
    [ -n "$(find "$@" -newer "$o" -print | head -n 1)" ]
}

write_ptx() {
    clang=$(scripts/setup.sh clang)
    for cu in bench/kernels/*.cu; do
        ptx=${cu%.cu}.ptx
        newer "$ptx" "$cu" bench/kernels/device.h || continue
        "$clang" -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_80 --cuda-feature=+ptx80 \
            -O3 -Wno-unknown-cuda-version -Wno-pass-failed -S -o "$ptx.part" "$cu"
        mv "$ptx.part" "$ptx"
    done
}

build() {
    clang=$(scripts/setup.sh clang)
    for cc in gcc "$clang"; do
        kind=gcc
        [ "$cc" = gcc ] || kind=clang
        lib=$out/native-$kind.so
        # shellcheck disable=SC2086
        if newer "$lib" bench/native; then $cc $flags -fPIC -shared -o "$lib.part" bench/native/*.c -lm -lpthread && mv "$lib.part" "$lib"; fi
    done
    if newer "$out/harness" bench/harness bench/rows bench/native/native.h; then
        gcc -O2 -g -Wall -Wextra -Iinclude -o "$out/harness.part" bench/harness/*.c bench/rows/*.c -ldl -lm -lpthread
        mv "$out/harness.part" "$out/harness"
    fi
}

case ${1:-} in
-ptx) write_ptx; exit ;;
-build) build; exit ;;
-asm)
    build
    mkdir -p "$out/asm"
    "$out/harness" -list -row "$2" | sort -u -k3,4 | while read -r row module kernel block grid; do
        echo "$row: $kernel, block $block, grid $grid: $out/asm/$kernel.*"
        dist/bin/kudzu compile "bench/kernels/$module.ptx" --kernel "$kernel" --block "$block" --emit ptx,ir,ll,opt,asm -o "$out/asm"
    done
    exit ;;
esac
build
exec "$out/harness" "$@"
