#!/bin/sh
# Compiles the examples', the bench's and N (500) kernels of a CUDA library, sampled evenly, for four of AMD's GPUs, and writes
# docs/bench/gpu-compile.md and .tsv. It takes most of an hour of processor time, so nothing runs it by itself.
#   scripts/gpu-compile.sh LIBRARY [N] [ROWS]     ROWS keeps what is done: a run that was stopped goes on
set -eu
cd "$(dirname "$0")/.."
lib=$1 n=${2:-500} rows=${3:-.build/gpu-compile.rows}
make dist >/dev/null
scripts/examples.sh >/dev/null
about="Every kernel of the examples and the bench, and $n kernels of llama.cpp's \`libggml-cuda.so\` sampled evenly. Each is cut
out of its module and compiled to a code object by the compiler process. Times are milliseconds of processor time, on
$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(date -u +%Y-%m-%d)."
nice -n 5 go run ./internal/testkit/bench gpu -kudzu dist/bin/kudzu -apps "$lib" -count "$n" -rows "$rows" \
    -page docs/bench/gpu-compile.md -about "$about" .build/examples/*.ptx bench/kernels/*.ptx
