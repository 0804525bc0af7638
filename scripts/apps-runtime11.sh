#!/bin/sh
# Opt-in: a program of nvcc 11.8 with the vendor's runtime 11.8 inside, with that runtime beside it, and with our libcudart.so.11.0.
#   scripts/apps-runtime11.sh DIR
set -eu
cd "$(dirname "$0")/.."
dir=$1
lib=${KUDZU_LIB:-$PWD/dist/lib}
root=$(scripts/nvcc.sh 11)
mkdir -p "$dir"
for kind in static shared; do
    "$root/bin/nvcc" -w -allow-unsupported-compiler -gencode arch=compute_75,code=compute_75 -cudart $kind testdata/apps/runtime11.cu -o "$dir/runtime11-$kind"
done
LD_LIBRARY_PATH=$lib timeout 60 "$dir/runtime11-static"
LD_LIBRARY_PATH=$root/lib:$lib timeout 60 "$dir/runtime11-shared"
LD_LIBRARY_PATH=$lib timeout 60 "$dir/runtime11-shared"
