#!/bin/sh
# Figures, all from one run on this machine: each example's kernel against the same algorithm in native C (the better of
# gcc and clang, -O3 -march=native -ffast-math, same threads), then the rooms' own benchmarks.
set -eu
cd "$(dirname "$0")/.."
out=.build/bench
mkdir -p "$out"
threads=${KUDZU_THREADS:-$(nproc)}
gcc -O3 -march=native -ffast-math -o "$out/native-gcc" bench/native.c -lpthread
"$(scripts/setup.sh clang)" -O3 -march=native -ffast-math -o "$out/native-clang" bench/native.c -lpthread
"$out/native-gcc" "$threads" >"$out/gcc.txt"
"$out/native-clang" "$threads" >"$out/clang.txt"
echo "kernel         kudzu ms  native ms  ratio (native/kudzu, above 1 is faster than native)"
for dir in examples/*/; do
    name=$(basename "$dir")
    ms=$(KUDZU_THREADS=$threads dist/bin/kudzu run -- ".build/examples/$name" "$out" | sed -n 's/^time: \([0-9.]*\) ms.*/\1/p')
    native=$(cat "$out/gcc.txt" "$out/clang.txt" | awk -v n="$name" '$1==n {if (!m || $2<m) m=$2} END {print m}')
    echo "$name $ms $native" | awk '{printf "%-12s %10.3f %10.3f  %5.2f\n", $1, $2, $3, $3/$2; if ($2>0) {s+=log($3/$2)}}'
    echo "$ms $native" >>"$out/ratios.$$"
done
awk '{s+=log($2/$1); n++} END {printf "%-12s %32.2f\n", "geomean", exp(s/n)}' "$out/ratios.$$"
rm -f "$out/ratios.$$"
echo
# The collector's part of a parse only settles after some rounds.
go test -run '^$' -bench . -benchtime 3s ./internal/ptx ./internal/ptx/check 2>&1 | grep -E '^Benchmark|FAIL'
go test -run '^$' -bench . -benchtime 300ms ./internal/engine/... ./internal/driver/... ./internal/handle/... ./internal/cache/... 2>&1 | grep -E '^Benchmark|^ok|FAIL'
