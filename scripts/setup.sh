#!/bin/sh
# Makes sure the machine has what building and testing need: a C compiler, clang and libLLVM 19 or newer, binutils.
# Installs what is missing with apt-get when it may (root, or sudo without a password); otherwise says exactly what to
# run and stops. Quick and silent when everything is there.
set -eu

min_llvm=19
max_llvm=22

have() { command -v "$1" >/dev/null 2>&1; }

# find_clang prints the newest clang of at least min_llvm.
find_clang() {
    v=$max_llvm
    while [ "$v" -ge "$min_llvm" ]; do
        for c in "clang-$v" "/usr/lib/llvm-$v/bin/clang"; do
            if have "$c"; then echo "$c"; return 0; fi
        done
        v=$((v - 1))
    done
    if have clang; then
        major=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
        if [ "${major:-0}" -ge "$min_llvm" ] 2>/dev/null; then echo clang; return 0; fi
    fi
    return 1
}

# find_llvm succeeds if a libLLVM of at least min_llvm can be opened.
find_llvm() {
    v=$max_llvm
    while [ "$v" -ge "$min_llvm" ]; do
        for f in /usr/lib/*/libLLVM.so.$v.* /usr/lib/*/libLLVM-$v.so* /usr/lib/llvm-$v/lib/libLLVM*.so* /usr/lib64/libLLVM*.so.$v*; do
            if [ -e "$f" ]; then return 0; fi
        done
        v=$((v - 1))
    done
    return 1
}

if [ "${1:-}" = clang ]; then find_clang; exit; fi

need=""
have gcc || need="$need gcc libc6-dev"
have nm || need="$need binutils"
find_clang >/dev/null || need="$need CLANG"
find_llvm || need="$need LIBLLVM"
if ! have go; then
    echo "kudzu: Go is missing: install Go 1.25 or newer (package golang-go, or go.dev)" >&2
    exit 1
fi
[ -z "$need" ] && exit 0

if ! have apt-get; then
    echo "kudzu: please install:$(echo "$need" | sed "s/CLANG/clang-$min_llvm/;s/LIBLLVM/libllvm$min_llvm/") (or newer)" >&2
    exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
    if have sudo && sudo -n true 2>/dev/null; then sudo="sudo -n"; else sudo="ask"; fi
fi
[ "$sudo" = ask ] || $sudo apt-get update -qq || true

# The newest version the machine's own archive has.
version=$max_llvm
while [ "$version" -gt "$min_llvm" ] && ! apt-cache show "clang-$version" >/dev/null 2>&1; do version=$((version - 1)); done
need=$(echo "$need" | sed "s/CLANG/clang-$version/;s/LIBLLVM/libllvm$version/")
if [ "$sudo" = ask ]; then
    echo "kudzu: packages are missing. Please run:" >&2
    echo "    sudo apt-get install -y$need" >&2
    exit 1
fi
echo "kudzu: installing$need"
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
find_clang >/dev/null && find_llvm || { echo "kudzu: clang and libLLVM $min_llvm or newer are still missing after installing$need" >&2; exit 1; }
