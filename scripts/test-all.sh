#!/bin/sh
# What make test leaves out, because it takes long or needs more: the tests that depend on libLLVM with every tested version
# of it that is there; all recorded rows and all case files, compiled for this machine, for one without AVX-512, and for
# arm64 (qemu-user runs the engine, the compiler is native).
#   scripts/test-all.sh               everything
#   scripts/test-all.sh compiler N    only the tests that depend on libLLVM, with version N and as short as in make test
set -eu
cd "$(dirname "$0")/.."
root=$PWD
build=$root/.build/test-all
mkdir -p "$build"

say() { echo "== $*"; }

# compiler MAJOR: what of the suite goes through libLLVM. The interpreter's and the interface's own tests do not.
compiler() {
    KUDZU_LLVM=$(scripts/setup.sh library "$1") || { echo "test-all: libLLVM $1 is not here" >&2; return 1; }
    export KUDZU_LLVM
    say "libLLVM $1: the compiler's tests"
    go test -timeout 14m -skip '^TestInterp' ./internal/llvm/... ./internal/image ./internal/emit/... ./internal/compile/... ./internal/backend/cpu \
        ./internal/shim/... ./internal/testkit/truth ./internal/testkit/texels ./internal/testkit/progen ./internal/testkit/contract ./examples
    go test -timeout 14m -run "$cases" ./internal/testkit
    unset KUDZU_LLVM
}
cases='^(TestCases|TestGridBarrierManyBlocks)$'

# full MAJOR NAME [COMMAND...]: all rows and cases with test programs that COMMAND runs; targets are in the environment.
full() {
    major=$1 name=$2
    shift 2
    say "libLLVM $major, $name: all recorded rows, all case files"
    for room in testkit/truth:'^(TestCPU|TestNewer)$' testkit:"$cases"'/^cpu$'; do
        (cd "internal/${room%%:*}" && KUDZU_FULL=1 KUDZU_LLVM=$(cd "$root" && scripts/setup.sh library "$major") \
            "$@" "$build/$(basename "${room%%:*}").$name" -test.run "${room#*:}" -test.v -test.timeout 0) >"$build/$major-$name-$(basename "${room%%:*}").log" 2>&1 || failed=yes
        grep -hE '^ *[a-z_]+\.go:[0-9]+: |^(PASS|FAIL|ok|panic:)' "$build/$major-$name-$(basename "${room%%:*}").log" | tail -n 20
    done
}

[ "${1:-}" != compiler ] || { compiler "$2"; exit; }

failed=
scripts/setup.sh all
dist="$root/dist/bin/kudzu"
for room in testkit testkit/truth; do
    go test -c -o "$build/$(basename $room).native" "./internal/$room"
    ln -sf "$(basename $room).native" "$build/$(basename $room).avx2"
done
arm64=
if [ "$(uname -m)" = x86_64 ]; then
    if command -v qemu-aarch64 >/dev/null && command -v aarch64-linux-gnu-gcc >/dev/null; then
        arm64=yes
        for room in testkit testkit/truth; do
            GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc go test -c -o "$build/$(basename $room).arm64" "./internal/$room"
        done
    else
        echo "test-all: arm64 is left out: it needs qemu-user and gcc-aarch64-linux-gnu (apt-get install --no-install-recommends qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross)" >&2
        failed=yes
    fi
fi
say "libdevice: every function on 10,000 numbers, and all of them through libNVVM"
KUDZU_FULL=1 go test -timeout 30m ./internal/testkit/devicemath || failed=yes
for v in $(scripts/setup.sh found); do
    compiler "$v" || failed=yes
    full "$v" native
    [ "$(uname -m)" = x86_64 ] || continue
    KUDZU_TEST_TARGET=x86_64-linux-gnu,x86-64-v3 full "$v" avx2
    [ -z "$arm64" ] || KUDZU_TEST_COMPILER=$dist KUDZU_TEST_TARGET=aarch64-linux-gnu,cortex-a76 full "$v" arm64 qemu-aarch64 -L /usr/aarch64-linux-gnu
done
[ -z "$failed" ] || { echo "test-all: FAILED; logs are in .build/test-all" >&2; exit 1; }
say "all passed"
