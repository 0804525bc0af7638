#!/bin/sh
# A trace in front of NVIDIA's own driver, beside one of Kudzu of the same program (testdata/apps/trace_gpu.c):
#   scripts/trace-gpu.sh build        here: .build/trace-gpu with the fronts, the program and the command
#   scripts/trace-gpu.sh run [OUT]    on a machine with the driver, in the same tree: traces in OUT, .build/trace-gpu/out if not named
# NVIDIA's runtime library is used where one of CUDART (a file) or the system's folders has it.
set -eu
cd "$(dirname "$0")/.."
dir=.build/trace-gpu

build() {
    rm -rf "$dir"
    mkdir -p "$dir/lib" "$dir/bin"
    for f in libkudzu-base.so libcuda.so.1 libcudart.so.12 libcudart.so.13; do cp "dist/lib/$f" "$dir/lib/"; done
    cp dist/bin/kudzu "$dir/bin/"
    strip --strip-unneeded "$dir/lib"/*.so*
    gcc -std=gnu11 -O1 -Wall -Iinclude -o "$dir/trace_gpu" testdata/apps/trace_gpu.c -Ldist/lib -l:libcuda.so.1 -ldl
    du -sh "$dir"
}

# real_runtime prints the runtime library that is there, if any.
real_runtime() {
    for f in ${CUDART:-} /usr/local/cuda*/lib64/libcudart.so.1[23] /usr/lib/x86_64-linux-gnu/libcudart.so.1[23] \
        /usr/lib/python3*/site-packages/nvidia/cu*/lib/libcudart.so.1[23] /usr/local/lib/python3*/*-packages/nvidia/cu*/lib/libcudart.so.1[23]; do
        if [ -e "$f" ]; then echo "$f"; return; fi
    done
}

run() {
    out=${1:-$dir/out}
    mkdir -p "$out"
    here=$PWD/$dir
    cudart=$(real_runtime)
    echo "runtime library: ${cudart:-none}"
    # Without anything of ours, then before the driver, recorded.
    LD_LIBRARY_PATH=${cudart:+$(dirname "$cudart")} "$dir/trace_gpu" $cudart && echo "plain: fine"
    LD_LIBRARY_PATH=$here/lib${cudart:+:$(dirname "$cudart")} KUDZU_TRACE=$out/real KUDZU_TRACE_REAL=${cudart:+$(dirname "$cudart")} \
        "$dir/trace_gpu" ${cudart:+"$here/lib/$(basename "$cudart")"} && echo "recorded: fine"
    ls -l "$out/real"
    "$dir/bin/kudzu" trace show "$out/real" | head -n 60
}

verb=${1:-}
[ $# -eq 0 ] || shift
case $verb in
build) build ;;
run) run "$@" ;;
*) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
