#!/bin/sh
# Compiles the kernels of the library shims and the device runtime to PTX, z*.ptx, and packs it for the image: those whose source,
# headers or flags changed, or with the argument all every one. What is compiled and how is in cmd/gen/kernels.go. The PTX is
# committed, so that a build needs no clang; make check fails if it was made of another source.
set -eu
cd "$(dirname "$0")/.."
go run ./cmd/gen -clang "$(scripts/setup.sh clang)" ${1:+-all}
go run ./cmd/gen
