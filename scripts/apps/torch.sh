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
    command -v debootstrap >/dev/null 2>&1 || { echo "torch: debootstrap is missing" >&2; return 1; }
    [ -e "$os/base" ] || { rm -rf "$os" && debootstrap --variant=minbase --include=ca-certificates trixie "$os" >&2 && touch "$os/base"; } || return 1
    sed -i 's/ main.*/ main contrib non-free/' "$os/etc/apt/sources.list"
    cp /etc/resolv.conf "$os/etc/"
    # nvidia-cudnn, which python3-torch-cuda wants, only downloads NVIDIA's cuDNN, so it may fail: the cuDNN here is Kudzu's.
    chroot "$os" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends libllvm19 python3-numpy &&
        { DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends python3-torch-cuda || [ -e /usr/lib/python3/dist-packages/torch/__init__.py ]; }' >&2 || return 1
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
