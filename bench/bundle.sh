#!/bin/sh
# Inside the bundle that scripts/bench.sh -bundle makes: the scaling run on a machine with nothing but gcc (and without it,
# with clang's native code only). ./run.sh FOLDER [THREADS,..] writes scaling-N.json, machine.json and launch.json there.
set -eu
cd "$(dirname "$0")"
to=$1
counts=$(echo "${2:-1,$(nproc)}" | tr , ' ')
mkdir -p "$to"
if command -v gcc >/dev/null 2>&1; then gcc -O3 -march=native -ffast-math -fopenmp-simd -fPIC -shared -o native-gcc.so native/*.c -lm -lpthread; fi
export KUDZU_LLVM="$PWD/lib/libLLVM.so" KUDZU_CACHE_DIR="$PWD/cache"
# Without a compiler the kernels would be interpreted, for hours: stop here instead.
bin/kudzu compile kernels/stream.ptx --kernel saxpy --block 256,1,1 --emit image -o cache-try >/dev/null
cat >"$to/machine.json" <<END
{"cpu": "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)", "cores": $(nproc), "kernel": "$(uname -sr)",
 "gcc": "$(gcc --version 2>/dev/null | head -n 1)", "clang": "19, built for Sapphire Rapids elsewhere", "flags": "-O3 -march=native -ffast-math -fopenmp-simd",
 "date": "$(date -u +%Y-%m-%d)"}
END
for n in $counts; do
    echo "== $n threads"
    ./harness -compute -no-pocl -threads "$n" -sample-ms 50 -lib lib/libcuda.so.1 -kernels kernels -native . -json "$to/scaling-$n.json"
done
echo "== all rows, $(nproc) threads"
./harness -no-pocl -threads "$(nproc)" -sample-ms 50 -lib lib/libcuda.so.1 -kernels kernels -native . -json "$to/rows.json"
./harness -launch -lib "$PWD/lib/libcuda.so.1" -kernels "$PWD/kernels" -json "$to/launch.json"
