#!/bin/sh
# Makes sure the machine has what building and testing need: a C compiler, clang and libLLVM 19 or newer, binutils.
# Installs what is missing with apt-get when it may (root, or sudo without a password); otherwise says exactly what to
# run and stops. Quick and silent when everything is there.
#   setup.sh             the above
#   setup.sh all         every tested libLLVM that the machine's archive has besides, for .ci/run and make test-all
#   setup.sh clang       prints the newest clang there is
#   setup.sh tested      prints the tested major versions of libLLVM, the preferred one first
#   setup.sh found       prints those of them that are there
#   setup.sh library N   prints the file of libLLVM N
set -eu

source=$(dirname "$0")/../internal/llvm/release/release.go
tested=$(sed -n 's/^var Tested = .*{\(.*\)}$/\1/p' "$source" | tr -d ,)
min_llvm=$(sed -n 's/^const Oldest = //p' "$source")
max_llvm=$(sed -n 's/^const newest = //p' "$source")

have() { command -v "$1" >/dev/null 2>&1; }

# versions prints the major versions that will do: the tested ones in their order, then the others, the newest first.
versions() {
    echo "$tested"
    v=$max_llvm
    while [ "$v" -ge "$min_llvm" ]; do
        case " $tested " in *" $v "*) ;; *) echo "$v" ;; esac
        v=$((v - 1))
    done
}

# find_clang prints a clang of at least min_llvm, a tested version if there is one.
find_clang() {
    for v in $(versions); do
        for c in "clang-$v" "/usr/lib/llvm-$v/bin/clang"; do
            if have "$c"; then echo "$c"; return 0; fi
        done
    done
    if have clang; then
        major=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
        if [ "${major:-0}" -ge "$min_llvm" ] 2>/dev/null; then echo clang; return 0; fi
    fi
    return 1
}

# library MAJOR prints the file of a libLLVM of this version, if there is one.
library() {
    for f in /usr/lib/*/libLLVM.so.$1.* /usr/lib/*/libLLVM-$1.so* /usr/lib/llvm-$1/lib/libLLVM*.so* /usr/lib64/libLLVM*.so.$1*; do
        if [ -e "$f" ]; then echo "$f"; return 0; fi
    done
    return 1
}
has_llvm() { library "$1" >/dev/null; }

# find_llvm succeeds if there is a libLLVM of at least min_llvm.
find_llvm() {
    for v in $(versions); do
        if has_llvm "$v"; then return 0; fi
    done
    return 1
}

all=
case ${1:-} in
clang) find_clang; exit ;;
tested) echo $tested; exit ;;
found)
    for v in $tested; do if has_llvm "$v"; then echo "$v"; fi; done
    exit ;;
library) library "$2"; exit ;;
all) all=yes ;;
esac

need=""
have gcc || need="$need gcc libc6-dev"
have nm || need="$need binutils"
find_clang >/dev/null || need="$need CLANG"
find_llvm || need="$need LIBLLVM"
more=
for v in $tested; do
    if [ "$all" ] && ! has_llvm "$v"; then more="$more $v"; fi
done
if ! have go; then
    echo "kudzu: Go is missing: install Go 1.25 or newer (package golang-go, or go.dev)" >&2
    exit 1
fi
[ -z "$need$more" ] && exit 0

if ! have apt-get; then
    [ -n "$need" ] || exit 0
    echo "kudzu: please install:$(echo "$need" | sed "s/CLANG/clang-$min_llvm/;s/LIBLLVM/libllvm$min_llvm/") (or newer)" >&2
    exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
    if have sudo && sudo -n true 2>/dev/null; then sudo="sudo -n"; else sudo="ask"; fi
fi
[ "$sudo" = ask ] || $sudo apt-get update -qq || true

# The first version that the machine's own archive has.
in_archive() { apt-cache show "$1" >/dev/null 2>&1; }
version=$min_llvm
for v in $(versions); do
    if in_archive "clang-$v"; then version=$v; break; fi
done
need=$(echo "$need" | sed "s/CLANG/clang-$version/;s/LIBLLVM/libllvm$version/")
for v in $more; do
    case " $need " in *" libllvm$v "*) continue ;; esac
    if in_archive "libllvm$v"; then need="$need libllvm$v"; else echo "kudzu: libllvm$v is not in this machine's archive" >&2; fi
done
[ -n "$need" ] || exit 0
if [ "$sudo" = ask ]; then
    echo "kudzu: packages are missing. Please run:" >&2
    echo "    sudo apt-get install -y$need" >&2
    find_clang >/dev/null && find_llvm && have gcc && have nm # the others of "all" can be done without
    exit
fi
echo "kudzu: installing$need"
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $need >/dev/null
find_clang >/dev/null && find_llvm || { echo "kudzu: clang and libLLVM $min_llvm or newer are still missing after installing$need" >&2; exit 1; }
