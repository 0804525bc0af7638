#!/bin/sh
# The bench suite: every row's kernel on Kudzu, its C by gcc and clang (-O3 -march=native -ffast-math), its OpenCL on PoCL,
# in one process, interleaved; then launch latency, start-up and compile time. docs/bench/README.md says how to read it.
#   scripts/bench.sh                      everything; writes docs/bench (BENCH_OUT: elsewhere)
#   scripts/bench.sh -row NAME[,NAME] ..  only these rows (a row, a module, or prefix*); more options go to the harness:
#                                         -no-pocl, -kudzu-only, -tier baseline, -reps N, -threads N, -sample-ms N, -json FILE
#   scripts/bench.sh -asm NAME            what Kudzu makes of a row: PTX, IR, LLVM, assembly in .build/bench/asm
#   scripts/bench.sh -fft [-cpu] [-long]  cuFFT beside FFTW and cuRAND beside memset, one thread (-long: rows that take minutes)
#   scripts/bench.sh -science [-cpu] [-long]  cuFFT, cuRAND and cuSPARSE in one run: -fft, then -sparse on one thread, with verdicts
#   scripts/bench.sh -launch              launch latency and start-up only
#   scripts/bench.sh -trace               what `kudzu trace` adds to a call
#   scripts/bench.sh -sparse [..]         cuSPARSE's products against C and MKL only; options: -reps N, -only STRUCTURE, -clock cpu
#   scripts/bench.sh -linear [..]         cuSOLVER's factorisations and cuBLAS's products beside OpenBLAS, one thread each; options:
#                                         -clock cpu, -ms N, -only PREFIX, -sizes N,N
#   scripts/bench.sh -dnn [-cpu] [PREFIX] cuDNN beside PyTorch's CPU path (oneDNN), one thread each; needs torch and cudnn-frontend
#   scripts/bench.sh -compile [-apps LIB] compile time only; with kernels of a library, such as llama.cpp's libggml-cuda.so
#   scripts/bench.sh -scaling 1,16        compute-bound rows, saxpy and triad at these thread counts
#   scripts/bench.sh -versus DIST [..]    another build's dist folder and this one, row by row in turn (also: make bench OLD=DIST)
#   scripts/bench.sh -ptx [MODULE..]      bench/kernels/*.ptx again from the .cu files
#   scripts/bench.sh -bundle              .build/bench-bundle.tgz: the 16-core run for a machine with nothing but gcc
# KUDZU_PTXAS names a ptxas to compare with (else the one in PATH); BENCH_APPS a library for the full run's compile times.
# BENCH_FIRST=1 asks the scheduler to run this before everything else on a shared machine (needs root).
set -eu
cd "$(dirname "$0")/.."
if [ "${BENCH_FIRST:-}" = 1 ]; then
    export BENCH_FIRST=2; exec setsid -w "scripts/bench.sh" "$@" # a session of its own, which has a priority of its own
elif [ "${BENCH_FIRST:-}" = 2 ]; then
    echo -15 >/proc/self/autogroup
fi
out=.build/bench
mkdir -p "$out"
flags="-O3 -march=native -ffast-math -fopenmp-simd"

# newer OUTPUT INPUT...: is the output missing, or older than an input?
newer() {
    o=$1
    shift
    [ -e "$o" ] || return 0
    [ -n "$(find "$@" -newer "$o" -print | head -n 1)" ]
}

# write_ptx [MODULE..]: these, or all whose text is newer.
write_ptx() {
    clang=$(scripts/setup.sh clang)
    for cu in bench/kernels/*.cu; do
        ptx=${cu%.cu}.ptx
        if [ $# -gt 0 ]; then
            case " $* " in *" $(basename "${cu%.cu}") "*) ;; *) continue ;; esac
        else
            newer "$ptx" "$cu" bench/kernels/device.h || continue
        fi
        arch=$(sed -n 's|^// arch: ||p' "$cu")
        "$clang" -x cuda -nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch="${arch:-sm_80}" --cuda-feature=+ptx80 \
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
    if newer "$out/harness" bench/harness bench/rows bench/native/native.h bench/threadclock.h; then
        gcc -O2 -g -Wall -Wextra -Iinclude -o "$out/harness.part" bench/harness/*.c bench/rows/*.c -ldl -lm -lpthread
        mv "$out/harness.part" "$out/harness"
    fi
    "$out/harness" -list >"$out/list.txt"
}

# PoCL is one of the rows' opponents: installed where that needs no question, said where it is missing.
pocl() {
    for icd in /etc/OpenCL/vendors/*pocl*; do [ -e "$icd" ] && return 0; done
    if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
        echo "kudzu: installing pocl-opencl-icd"
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pocl-opencl-icd ocl-icd-libopencl1 >/dev/null 2>&1 && return 0
    fi
    echo "kudzu: PoCL is missing, its column stays empty (package pocl-opencl-icd)" >&2
}

# Products of sparse matrices. MKL is an opponent where the loader finds libmkl_rt (pip install mkl; LD_LIBRARY_PATH).
sparse() {
    if newer "$out/sparse" bench/libraries/sparse.c bench/libraries/bench.h bench/threadclock.h dist/lib/libcusparse.so.12; then
        # shellcheck disable=SC2086
        gcc $flags -Wall -Wextra -Iinclude -o "$out/sparse.part" bench/libraries/sparse.c -Ldist/lib -l:libcusparse.so.12 -l:libcudart.so.13 \
            -Wl,-rpath,"$PWD/dist/lib" -ldl -lm -lpthread
        mv "$out/sparse.part" "$out/sparse"
    fi
    KUDZU_CACHE_DIR=$PWD/$out/cache KUDZU_TIER=optimised "$out/sparse" "$@"
}

# Factorisations and products. OpenBLAS is the opponent where the loader finds libopenblas.so.0 (LD_LIBRARY_PATH).
linear() {
    if newer "$out/linear" bench/libraries/linear.c bench/libraries/bench.h bench/threadclock.h; then
        gcc -O2 -Wall -Wextra -Iinclude -o "$out/linear.part" bench/libraries/linear.c -Ldist/lib -l:libcublas.so.12 -l:libcusolver.so.11 \
            -l:libcudart.so.12 -Wl,-rpath,"$PWD/dist/lib" -ldl -lm
        mv "$out/linear.part" "$out/linear"
    fi
    # OpenBLAS goes by model numbers: on a processor newer than itself it takes kernels of 2004, which run at a quarter of the speed.
    core=$(awk '/^flags/ { if (/avx512vl/ && /avx512bw/ && /avx512dq/) print (/avx512_bf16/ ? "Cooperlake" : "SkylakeX"); else if (/ avx2/ && / fma/) print "Haswell"; exit }' /proc/cpuinfo)
    [ -n "${OPENBLAS_CORETYPE:-$core}" ] && export OPENBLAS_CORETYPE="${OPENBLAS_CORETYPE:-$core}"
    KUDZU_CACHE_DIR=$PWD/$out/cache KUDZU_TIER=optimised KUDZU_THREADS=1 "$out/linear" "$@"
}

# What a recorded call costs.
trace() {
    if newer "$out/trace" bench/trace/trace.c dist/lib/libcudart.so.13; then
        gcc -O2 -Wall -Wextra -Iinclude -o "$out/trace.part" bench/trace/trace.c -Ldist/lib -l:libcuda.so.1 -l:libcudart.so.13 -Wl,-rpath,"$PWD/dist/lib"
        mv "$out/trace.part" "$out/trace"
    fi
    mkdir -p "$out/double"
    gcc -O2 -fPIC -shared -Wl,-Bsymbolic -Wl,-soname,libcuda.so.1 -o "$out/double/libcuda.so.1" testdata/apps/trace_double.c
    KUDZU_TRACE_REAL=$PWD/$out/double "$out/trace" alone
    KUDZU_CACHE_DIR=$PWD/$out/cache "$out/trace"
}

launch() { KUDZU_CACHE_DIR=$PWD/$out/cache "$out/harness" -launch "$@"; }
# Transforms and random numbers. FFTW is an opponent where the loader finds it (libfftw3-single3, libfftw3-double3), pocketfft where
# BENCH_PYTHON has SciPy.
fft() {
    pocket=
    for name in fft random; do
        if newer "$out/$name" "bench/libraries/$name.c" bench/libraries/bench.h bench/threadclock.h dist/lib/libcufft.so.12 dist/lib/libcurand.so.10; then
            gcc -O2 -Wall -Iinclude -o "$out/$name.part" "bench/libraries/$name.c" -Ldist/lib -l:libcufft.so.12 -l:libcurand.so.10 \
                -l:libcudart.so.13 -Wl,-rpath,"$PWD/dist/lib" -ldl -lm
            mv "$out/$name.part" "$out/$name"
        fi
        if [ "$name" = fft ] && "${BENCH_PYTHON:-python3}" -c 'import scipy.fft' 2>/dev/null; then
            OMP_NUM_THREADS=1 "$out/fft" -rows "$@" | "${BENCH_PYTHON:-python3}" bench/libraries/pocketfft.py "$@" >"$out/pocketfft.tsv"
            pocket="-pocketfft $out/pocketfft.tsv"
        fi
        # shellcheck disable=SC2086
        KUDZU_CACHE_DIR=$PWD/$out/cache KUDZU_TIER=optimised KUDZU_THREADS=1 "$out/$name" $pocket "$@"
        pocket=
    done
}
# cuFFT, cuRAND and cuSPARSE with the verdicts of their targets, on one thread each.
science() {
    fft "$@"
    clock=
    case " $* " in *" -cpu "*) clock="-clock cpu" ;; esac
    # shellcheck disable=SC2086
    KUDZU_THREADS=1 sparse -reps 5 $clock
}
# Layers of networks. BENCH_PYTHON is a Python that has torch and nvidia-cudnn-frontend; without them there is nothing to compare with.
# Both sides get vectors of the same size, those that Kudzu finds unless ONEDNN_MAX_CPU_ISA says less.
dnn() {
    python=${BENCH_PYTHON:-python3}
    if ! "$python" -c 'import torch, cudnn' 2>/dev/null; then
        echo "kudzu: $python has no torch or no cudnn-frontend, cuDNN's rows stay empty (pip install torch nvidia-cudnn-frontend; BENCH_PYTHON)" >&2
        return 0
    fi
    ONEDNN_MAX_CPU_ISA=${ONEDNN_MAX_CPU_ISA:-AVX512_CORE} KUDZU_CACHE_DIR=$PWD/$out/cache KUDZU_TIER=optimised KUDZU_THREADS=1 \
        dist/bin/kudzu run -- "$python" bench/libraries/dnn.py "$@"
}
compile() { go run ./internal/testkit/bench compile -list "$out/list.txt" "$@"; }

scaling() {
    counts=$(echo "$1" | tr , ' ')
    shift
    files=""
    for n in $counts; do
        echo "== $n threads"
        "$out/harness" -compute -no-pocl -threads "$n" -json "$out/scaling-$n.json" "$@"
        files="$files $out/scaling-$n.json"
    done
    # shellcheck disable=SC2086
    go run ./internal/testkit/bench report -o "${BENCH_OUT:-$out}" $files
}

# Kudzu with libLLVM beside it, the harness, the kernels, the native sources and clang's build of them for this kind of CPU.
bundle() {
    dir=$out/bundle
    rm -rf "$dir"
    mkdir -p "$dir/lib" "$dir/bin" "$dir/native"
    cp dist/bin/kudzu "$dir/bin/"
    cp -P dist/lib/libcuda.so* dist/lib/libkudzu-base.so dist/lib/libkudzu.so "$dir/lib/"
    cp -r bench/kernels "$dir/kernels"
    cp bench/native/* "$dir/native/"
    cp "$out/harness" "$dir/harness"
    "$(scripts/setup.sh clang)" -O3 -march=sapphirerapids -ffast-math -fopenmp-simd -fPIC -shared -o "$dir/native-clang.so" bench/native/*.c -lm -lpthread
    cp bench/bundle.sh "$dir/run.sh"
    # The library that the compiler process opens, under the name it looks for ($ORIGIN/../lib finds what it needs). What
    # it needs and never calls here (a solver, an XML reader, a line editor) becomes a library of empty functions.
    llvm=$(readlink -f "$(scripts/setup.sh library "$(scripts/setup.sh found | head -n 1)")")
    [ -n "$llvm" ] || { echo "bench: no tested libLLVM to carry" >&2; exit 1; }
    cp -L "$llvm" "$dir/lib/libLLVM.so"
    strip --strip-unneeded "$dir/lib/libLLVM.so" 2>/dev/null || true
    ldd "$llvm" | awk '/=> \//{print $1, $3}' | while read -r name path; do
        case $name in
        libz3.*) stub "$dir/lib/$name" "$llvm" 'Z3_' ;;
        libxml2.*) stub "$dir/lib/$name" "$llvm" 'xml' ;;
        libedit.*) stub "$dir/lib/$name" "$llvm" 'el_|history' ;;
        libffi.* | libz.* | libzstd.* | libtinfo.* | libstdc++.* | libgcc_s.*) cp -L "$path" "$dir/lib/" ;;
        esac
    done
    tar -C "$out" -czf .build/bench-bundle.tgz bundle
    ls -l .build/bench-bundle.tgz
}

# stub LIBRARY USER PATTERN: a library with every function of that pattern that USER wants, in the version it wants.
stub() {
    nm -D --undefined-only "$2" | awk -v p="^($3)" '$2 ~ p {v = $2; sub(/^[^@]*@*/, "", v); sub(/@.*/, "", $2); print $2, v}' >"$out/stub.txt"
    awk '{print "void " $1 "(void) {}"}' "$out/stub.txt" >"$out/stub.c"
    awk '$2 {s[$2] = s[$2] " " $1 ";"} END {for (v in s) print v " { global:" s[v] " };"}' "$out/stub.txt" >"$out/stub.map"
    [ -s "$out/stub.map" ] || echo "{ global: *; };" >"$out/stub.map"
    gcc -shared -fPIC -o "$1" "$out/stub.c" -Wl,-soname,"$(basename "$1")" -Wl,--version-script="$out/stub.map"
}

versus() {
    old=$1
    shift
    export KUDZU_CACHE_DIR="$PWD/$out/versus-cache"
    bench/versus.sh "$out/harness" "$old/lib/libcuda.so.1" dist/lib/libcuda.so.1 "$out/versus" "$@"
    go run ./internal/testkit/bench versus "$out/versus"
}

everything() {
    pocl
    "$out/harness" -json "$out/rows.json" "$@" || failed=1
    "$out/harness" -kudzu-only -tier baseline -reps 3 -json "$out/baseline.json" || failed=1
    launch -json "$out/launch.json"
    fft || failed=1
    sparse -reps 3 || failed=1
    dnn -reps 3 || failed=1
    # The compiler process leaves our session, ptxas does not: no priority for either.
    [ "${BENCH_FIRST:-}" != 2 ] || echo 0 >/proc/self/autogroup
    if [ -n "${BENCH_APPS:-}" ]; then compile -json "$out/compile.json" -apps "$BENCH_APPS" >"$out/compile.txt"; else compile -json "$out/compile.json" >"$out/compile.txt"; fi
    grep -E '^(cold|bench|lib|no ptxas)' "$out/compile.txt"
    go run ./internal/testkit/bench report -rows "$out/rows.json" -baseline "$out/baseline.json" -launch "$out/launch.json" -compile "$out/compile.json" -o "${BENCH_OUT:-docs/bench}"
    echo "index and parse of large modules (targets: index 400 MB/s, parse + check 40 MB/s a core)"
    # The collector's part of a parse only settles after some rounds.
    go test -run '^$' -bench . -benchtime 3s ./internal/ptx ./internal/ptx/check 2>&1 | grep -E '^Benchmark|FAIL'
    [ -z "${failed:-}" ] || { echo "bench: some results are wrong" >&2; exit 1; }
}

verb=${1:-}
[ "$verb" = -ptx ] && { shift; write_ptx "$@"; exit; }
[ "$verb" = -trace ] && { trace; exit; }
[ "$verb" = -science ] && { shift; science "$@"; exit; }
build
case $verb in
-build) ;;
-asm)
    mkdir -p "$out/asm"
    "$out/harness" -list -row "$2" | sort -u -k3,4 | while read -r row module kernel block grid; do
        echo "$row: $kernel, block $block, grid $grid"
        dist/bin/kudzu compile "bench/kernels/$module.ptx" --kernel "$kernel" --block "$block" --emit ptx,ir,ll,opt,asm -o "$out/asm"
    done ;;
-launch) shift; launch "$@" ;;
-sparse) shift; sparse "$@" ;;
-fft) shift; fft "$@" ;;
-linear) shift; linear "$@" ;;
-dnn) shift; dnn "$@" ;;
-compile) shift; compile "$@" ;;
-scaling) shift; scaling "$@" ;;
-versus) shift; versus "$@" ;;
-bundle) bundle ;;
-row) "$out/harness" "$@" ;;
*) everything "$@" ;;
esac
