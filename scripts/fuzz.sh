#!/bin/sh
# Runs every fuzz target of the repository, one after the other: scripts/fuzz.sh [TIME of each, as 30s or 5m] [name or package part].
# scripts/fuzz.sh programs [N] [first seed] compares N random programs in all their forms instead: every tested libLLVM, with and without
# AVX-512, passes forced on and off (about 5 s of a core each).
# scripts/fuzz.sh blas [SECONDS] [seed] [threads] makes random calls of cuBLAS, cuBLASLt and cuSOLVER instead and compares each with a plain sum
# (testdata/apps/app_blasrandom.c, on the libraries in dist). At the end nothing of the device's memory may be missing.
# scripts/fuzz.sh fft [SECONDS] [seed] [threads] does the same with cuFFT, cuRAND and cuSPARSE (testdata/apps/app_fftrandom.c).
# scripts/fuzz.sh dnn [SECONDS] [seed] [threads] does the same with cuDNN's layers and graphs (testdata/apps/app_dnnrandom.c).
# These have a device of 2 GiB, so that what other programs take of the machine's memory does not count.
# Inputs that reach new code are made smaller for a second at most: Go takes a minute for each, which would be most of the time.
# A target that fails leaves its input below testdata/fuzz of its package, where go test finds it from then on.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = programs ]; then
    exec go test ./internal/testkit/progen -run '^TestForms$' -v -timeout 0 -forms "${2:-200}" -seed "${3:-1}"
fi
if [ "${1:-}" = blas ]; then
    mkdir -p .build/fuzz
    lib=$PWD/dist/lib
    ${CC:-cc} -std=gnu11 -O1 -Wall -Iinclude testdata/apps/app_blasrandom.c -o .build/fuzz/blas -L"$lib" -Wl,-rpath,"$lib" \
        -l:libcublas.so.13 -l:libcublasLt.so.13 -l:libcusolver.so.12 -l:libcudart.so.13 -lm -lpthread
    exec env KUDZU_MEMORY=${KUDZU_MEMORY:-2G} .build/fuzz/blas "${2:-300}" "${3:-1}" "${4:-3}"
fi
if [ "${1:-}" = fft ]; then
    mkdir -p .build/fuzz
    lib=$PWD/dist/lib
    ${CC:-cc} -std=gnu11 -O1 -Wall -Iinclude testdata/apps/app_fftrandom.c -o .build/fuzz/fft -L"$lib" -Wl,-rpath,"$lib" \
        -l:libcufft.so.12 -l:libcurand.so.10 -l:libcusparse.so.12 -l:libcudart.so.13 -lm -lpthread
    exec env KUDZU_MEMORY=${KUDZU_MEMORY:-2G} .build/fuzz/fft "${2:-300}" "${3:-1}" "${4:-3}"
fi
if [ "${1:-}" = dnn ]; then
    mkdir -p .build/fuzz
    lib=$PWD/dist/lib
    ${CC:-cc} -std=gnu11 -O2 -Wall -Iinclude testdata/apps/app_dnnrandom.c -o .build/fuzz/dnn -L"$lib" -Wl,-rpath,"$lib" \
        -l:libcudnn.so.9 -l:libcudart.so.13 -lm -lpthread
    exec env KUDZU_MEMORY=${KUDZU_MEMORY:-2G} .build/fuzz/dnn "${2:-300}" "${3:-1}" "${4:-3}" ${5:+"$5"}
fi
time=${1:-30s}
only=${2:-}
workers=${FUZZ_PARALLEL:-1}
failed=""
mkdir -p .build/fuzz
targets=$(git grep -n '^func Fuzz' -- '*_test.go' | sed 's/:[0-9]*:func \(Fuzz[A-Za-z0-9_]*\).*/ \1/')
# The list is read from a here-document so that the loop may set variables of this shell.
while read -r file name; do
    package=./$(dirname "$file")
    case "$package $name" in *"$only"*) ;; *) continue ;; esac
    log=.build/fuzz/$(echo "${package#./}.$name" | tr -c 'A-Za-z0-9.\n' _).log
    if go test "$package" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 1s -parallel "$workers" >"$log" 2>&1; then
        echo "$package $name: $(grep -a '^fuzz: elapsed' "$log" | tail -1 | cut -d, -f2-)"
    else
        echo "$package $name: FAILED, $log:"
        tail -n 25 "$log"
        failed="$failed $package:$name"
    fi
done <<LIST
$targets
LIST
if [ -n "$failed" ]; then echo "fuzz: failed:$failed"; exit 1; fi
echo "fuzz: ok"
