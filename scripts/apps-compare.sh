#!/bin/sh
# Opt-in: kernels of PyTorch, CuPy (CUB, Thrust, NVRTC) and llama.cpp, launched on small data and compared with the interpreter
# (docs/compare.md). Everything is fetched and made outside the repository, in $KUDZU_APPS (~/.cache/kudzu-apps if not set): several GB.
# A first run compiles some thousand kernels, which takes hours; what a part has reported is kept until it is run again.
#   scripts/apps-compare.sh [PART[:GROUP]...]     parts: cupy, llama, torch (as root: it makes a Debian 13 in a folder); default: all
#                                                 groups: those of scripts/apps/compare_PART.py, or llama.cpp's quantisations
#   scripts/apps-compare.sh report                only what was reported so far
# The exit is 1 if a launch differs and docs/numerics.md does not say why.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
dist=${KUDZU_DIST:-$root/dist}
apps=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}
out=$apps/compare
mkdir -p "$out"
export KUDZU_APPS="$apps" KUDZU_COMPARE="${KUDZU_COMPARE:-launches=16,seconds=40}" KUDZU_COMPARE_DUMP="$out/dump"
[ -x "$dist/bin/kudzu" ] || { echo "compare: $dist/bin/kudzu is missing: run make dist, or name the folder in KUDZU_DIST" >&2; exit 1; }

# part_X GROUP: runs one group. KUDZU_COMPARE_REPORT is set.

part_llama() { KUDZU_DIST=$dist scripts/apps/llama.sh sizes "$@"; }

part_cupy() {
    env=$apps/cupy
    if [ ! -e "$env/ready" ]; then
        rm -rf "$env"
        python3 -m venv "$env"
        "$env/bin/pip" install -q --disable-pip-version-check cupy-cuda12x==14.2.0 nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 || return 1
        touch "$env/ready"
    fi
    # Its own kernels are PTX for 10.0 and 12.0; CUPY_COMPILE_WITH_PTX has NVRTC make PTX instead of machine code.
    CUPY_CACHE_DIR=$out/cupy-cache CUPY_COMPILE_WITH_PTX=1 CUPY_ACCELERATORS=cub KUDZU_COMPUTE_CAPABILITY=12.0 \
        "$dist/bin/kudzu" run -- "$env/bin/python" scripts/apps/compare_cupy.py "$@"
}

# PyTorch as Debian 13 builds it: the one build that carries PTX for all of its kernels.
torch_root() {
    os=$apps/torch
    [ ! -e "$os/ready" ] || return 0
    [ "$(id -u)" = 0 ] || { echo "compare: torch needs root, for debootstrap and chroot" >&2; return 1; }
    for tool in debootstrap nm gcc; do
        command -v $tool >/dev/null 2>&1 || { echo "compare: $tool is missing" >&2; return 1; }
    done
    [ -e "$os/base" ] || { rm -rf "$os" && debootstrap --variant=minbase --include=ca-certificates trixie "$os" >&2 && touch "$os/base"; } || return 1
    sed -i 's/ main.*/ main contrib non-free/' "$os/etc/apt/sources.list"
    cp /etc/resolv.conf "$os/etc/"
    chroot "$os" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends libllvm19 python3-numpy &&
        { DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends python3-torch-cuda || [ -e /usr/lib/python3/dist-packages/torch/__init__.py ]; }' >&2 || return 1
    # nvidia-cudnn is only a downloader. Without it, what PyTorch wants of cuDNN is there by name and answers that it is not initialised.
    libs=$os/usr/lib/x86_64-linux-gnu
    if [ ! -e "$libs/libcudnn.so.9" ]; then
        {
            nm -D --undefined-only "$libs/libtorch_cuda.so.2.6.0" | awk '$2 ~ /^cudnn/ && $2 !~ /^cudnnGet(Version|CudartVersion|ErrorString)$/ {print "int " $2 "(void) { return 1001; }"}'
            echo 'unsigned long cudnnGetVersion(void) { return 90000; } unsigned long cudnnGetCudartVersion(void) { return 12040; } const char *cudnnGetErrorString(int e) { (void)e; return "no cuDNN"; }'
        } | gcc -x c -shared -fPIC -o "$libs/libcudnn.so.9" -Wl,-soname,libcudnn.so.9 - || return 1
    fi
    touch "$os/ready"
}

part_torch() {
    torch_root || return 1
    mkdir -p "$os/kudzu" "$os/out" "$out/torch-cache"
    cp scripts/apps/compare_torch.py "$os/"
    # The mounts end with the namespace.
    unshare --mount --propagation private sh -ec '
        os=$1 dist=$2 out=$3
        shift 3
        mount -t proc proc "$os/proc"
        mount --rbind /dev "$os/dev"
        mount --bind "$dist" "$os/kudzu"
        mount --bind "$out" "$os/out"
        exec chroot "$os" env HOME=/root KUDZU_CACHE_DIR=/out/torch-cache KUDZU_COMPARE_DUMP=/out/dump "KUDZU_COMPARE_REPORT=/out/${KUDZU_COMPARE_REPORT##*/}" \
            /kudzu/bin/kudzu run -- python3 /compare_torch.py "$@"' sh "$os" "$dist" "$out" "$@"
}

if [ "${1:-}" != report ]; then
    [ $# -gt 0 ] || set -- cupy llama torch
    bad=0
    for name; do
        part=${name%%:*} group=
        [ "$part" = "$name" ] || group=${name#*:}
        case $part in cupy | llama | torch) ;; *) echo "compare: there is no part $part" >&2; exit 2 ;; esac
        export KUDZU_COMPARE_REPORT="$out/$part${group:+-$group}.report"
        rm -f "$KUDZU_COMPARE_REPORT"
        echo "== $name"
        # shellcheck disable=SC2086
        "part_$part" $group || { echo "compare: $name failed" >&2; bad=1; }
    done
    [ $bad = 0 ] || exit 1
fi
go run ./internal/testkit/compared "$out"/*.report
