#!/bin/sh
# Opt-in: a Python script on Kudzu with PyTorch as Debian 13 builds it, the one build that carries PTX for all of its kernels. As root:
# it makes a Debian 13 in a folder outside the repository, $KUDZU_APPS/torch (~/.cache/kudzu-apps/torch if not set).
#   scripts/apps/torch.sh OUT SCRIPT [ARG...]     OUT is the folder /out in there; Kudzu's cache is /out/torch-cache
# Kudzu's variables are passed on; files that they name must be below /out.
set -eu
cd "$(dirname "$0")/../.."
dist=${KUDZU_DIST:-$PWD/dist}
os=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}/torch
out=$1 script=$2
shift 2

root() {
    [ ! -e "$os/ready" ] || return 0
    [ "$(id -u)" = 0 ] || { echo "torch: needs root, for debootstrap and chroot" >&2; return 1; }
    for tool in debootstrap nm gcc; do
        command -v $tool >/dev/null 2>&1 || { echo "torch: $tool is missing" >&2; return 1; }
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

root
mkdir -p "$os/kudzu" "$os/out" "$out/torch-cache"
cp "$script" "$os/"
# The mounts end with the namespace.
exec unshare --mount --propagation private sh -ec '
    os=$1 dist=$2 out=$3 script=$4
    shift 4
    mount -t proc proc "$os/proc"
    mount --rbind /dev "$os/dev"
    mount --bind "$dist" "$os/kudzu"
    mount --bind "$out" "$os/out"
    exec chroot "$os" env HOME=/root KUDZU_CACHE_DIR=/out/torch-cache /kudzu/bin/kudzu run -- python3 "/$script" "$@"' sh "$os" "$dist" "$out" "${script##*/}" "$@"
