#!/bin/sh
# Opt-in: a Python script on Kudzu in a Debian 13, whose build of PyTorch is the one that carries PTX for all of its kernels. As root:
# it makes the Debian in a folder outside the repository, $KUDZU_APPS/torch (~/.cache/kudzu-apps/torch if not set).
#   scripts/apps/torch.sh [OPTION...] OUT SCRIPT [ARG...]     OUT is the folder /out in there, that of the script is /script
#       --env=NAME   the Python of an environment that --install made; - and no option: Debian's own
#       --home=DIR   HOME in there (/root); Kudzu's cache is DIR/kudzu, or /out/torch-cache where the option is missing
#       others       are kudzu run's
#   scripts/apps/torch.sh --install ENV PACKAGE...            packages of Debian; those after pip: go into the environment ENV
# Variables are passed on; files that they name must be below /out. TOOL is what kudzu does with it, run if not set:
# TOOL="compare -o /out/report".
set -eu
cd "$(dirname "$0")/../.."
dist=${KUDZU_DIST:-$PWD/dist}
os=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}/torch

apt="DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends"

root() {
    [ ! -e "$os/ready" ] || return 0
    [ "$(id -u)" = 0 ] || { echo "torch: needs root, for debootstrap and chroot" >&2; return 1; }
    command -v debootstrap >/dev/null 2>&1 || { echo "torch: debootstrap is missing" >&2; return 1; }
    [ -e "$os/base" ] || { rm -rf "$os" && debootstrap --variant=minbase --include=ca-certificates trixie "$os" >&2 && touch "$os/base"; } || return 1
    sed -i 's/ main.*/ main contrib non-free/' "$os/etc/apt/sources.list"
    cp /etc/resolv.conf "$os/etc/"
    # nvidia-cudnn, which python3-torch-cuda wants, only downloads NVIDIA's cuDNN, so it may fail: the cuDNN here is Kudzu's.
    chroot "$os" sh -c "apt-get -q update && $apt libllvm19 python3-numpy &&
        { $apt python3-torch-cuda || [ -e /usr/lib/python3/dist-packages/torch/__init__.py ]; }" >&2 || return 1
    touch "$os/ready"
}

# packages ENV PACKAGE...: each list once. pip sees this machine's settings and certificates.
packages() {
    env=$1 debian='' python=''
    shift
    for p; do
        case $p in
        pip:*) python="$python ${p#pip:}" ;;
        *) debian="$debian $p" ;;
        esac
    done
    mkdir -p "$os/env"
    [ -z "$python" ] || debian="$debian python3-venv"
    if [ -n "$debian" ] && ! grep -qxF "$debian" "$os/env/debian" 2>/dev/null; then
        # apt fails as long as nvidia-cudnn is not configured (above): what counts is what is installed.
        chroot "$os" sh -c "$apt $debian; dpkg-query -W -f '\${db:Status-Status}\n' $debian | grep -qv '^installed' && exit 1 || exit 0" >&2 || return 1
        echo "$debian" >>"$os/env/debian"
    fi
    if [ -n "$python" ] && [ ! -e "$os/env/$env/ready" ]; then
        echo "torch: fetching$python" >&2
        rm -rf "$os/env/$env"
        [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$os/etc/"
        # shellcheck disable=SC2016
        unshare --mount --propagation private sh -ec '
            mount --bind /etc/ssl/certs "$1/etc/ssl/certs"
            exec chroot "$1" sh -ec "python3 -m venv --system-site-packages /env/$2 && /env/$2/bin/pip install -q --disable-pip-version-check $3"' sh "$os" "$env" "$python" >&2 || return 1
        touch "$os/env/$env/ready"
    fi
}

options='' python=python3 home=/root cache=/out/torch-cache
while :; do
    case $1 in
    --install) shift && root && packages "$@" && exit || exit ;;
    --env=-) ;;
    --env=*) [ ! -e "$os/env/${1#*=}/ready" ] || python=/env/${1#*=}/bin/python ;;
    --home=*) home=${1#*=} cache=${1#*=}/kudzu ;;
    --*) options="$options $1" ;;
    *) break ;;
    esac
    shift
done
out=$1 script=$2
shift 2

root
mkdir -p "$os/kudzu" "$os/out" "$os/script" "$out/torch-cache"
# The mounts end with the namespace.
# shellcheck disable=SC2016
exec unshare --mount --propagation private sh -ec '
    os=$1 dist=$2 out=$3 folder=$4
    shift 4
    mount -t proc proc "$os/proc"
    mount --rbind /dev "$os/dev"
    mount --bind "$dist" "$os/kudzu"
    mount --bind "$out" "$os/out"
    mount --bind "$folder" "$os/script"
    exec chroot "$os" env "$@"' sh "$os" "$dist" "$out" "$(dirname "$script")" \
    HOME="$home" KUDZU_CACHE_DIR="$cache" /kudzu/bin/kudzu ${TOOL:-run} $options -- "$python" "/script/${script##*/}" "$@"
