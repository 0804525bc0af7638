#!/bin/sh
# Opt-in: a program compiled by nvcc 12 against the vendor's runtime 11.8, run with that runtime on our driver and with our own
# libcudart.so.11.0. The registries have the runtime as a shared library only; it asks the driver for the same tables as the static one.
#   scripts/apps-runtime11.sh DIR
set -eu
cd "$(dirname "$0")/.."
dir=$1
lib=${KUDZU_LIB:-$PWD/dist/lib}
old=$(scripts/nvcc.sh 11)/lib
new=$(scripts/nvcc.sh 12)
mkdir -p "$dir"
"$new/bin/nvcc" -w -gencode arch=compute_75,code=compute_75 -c testdata/apps/runtime11.cu -o "$dir/runtime11.o"
c++ "$dir/runtime11.o" -o "$dir/runtime11" "$old/libcudart.so.11.0"
LD_LIBRARY_PATH=$old:$lib timeout 60 "$dir/runtime11"
LD_LIBRARY_PATH=$lib timeout 60 "$dir/runtime11"
