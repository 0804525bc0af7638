#!/bin/sh
# Opt-in: a frame of Blender's Cycles on Kudzu, against the same frame on the CPU. Blender is Debian 13's, which has
# Cycles' kernels as source and compiles them with the nvcc that it finds: ours. As root: it makes the Debian in
# $KUDZU_APPS/blender (~/.cache/kudzu-apps/blender).
#   scripts/apps/blender.sh OUT [OPTION...]   OUT: the folder of frames, caches and statistics; options are kudzu run's
#   scripts/apps/blender.sh --warm OUT [KERNEL...]   compiles kernels ahead of their first launch, one after the other, into the
#       cache of OUT, where Cycles has left its file of kernels: a run that was stopped goes on where it was, with the same dist
# SIZE=64 SAMPLES=16 are the frame's. Nothing is set but the caches' folder; KUDZU_* variables are passed on.
set -eu
cd "$(dirname "$0")/../.."
dist=${KUDZU_DIST:-$PWD/dist}
os=${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}/blender

root() {
    [ ! -e "$os/usr/bin/blender" ] || return 0
    [ "$(id -u)" = 0 ] || { echo "blender: needs root, for debootstrap and chroot" >&2; return 1; }
    command -v debootstrap >/dev/null 2>&1 || { echo "blender: debootstrap is missing" >&2; return 1; }
    [ -e "$os/base" ] || { rm -rf "$os" && debootstrap --variant=minbase --include=ca-certificates trixie "$os" >&2 && touch "$os/base"; } || return 1
    cp /etc/resolv.conf "$os/etc/"
    chroot "$os" sh -c "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends blender clang-19 libllvm19 g++ python3-numpy" >&2
}

# The kernels of the default scene, and the blocks that they are launched with. Shading is most of the work.
kernels='reset:512 init_from_camera:160 queued_paths_array:512 sorted_paths_array:512 intersect_closest:512 intersect_shadow:512
    shade_background:512 shade_surface:512'

root
warm=
[ "$1" != --warm ] || { warm=yes; shift; }
out=$1
shift
mkdir -p "$os/kudzu" "$os/out" "$os/script" "$out"
if [ -n "$warm" ]; then
    # shellcheck disable=SC2016
    set -- sh -c 'for k in $*; do
        timeout 1800 /kudzu/bin/kudzu compile --all /out/.cache/cycles/kernels/*.cubin --kernel "kernel_gpu_integrator_${k%:*}" --block "${k#*:},1,1" --tier baseline --jobs 1 || exit 1
    done' sh ${*:-$kernels}
else
    set -- /kudzu/bin/kudzu run --stats=/out/stats.json "$@" -- blender -b --factory-startup -noaudio --python-exit-code 3 -P /script/blender_frame.py
fi
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
    # The clang in there may be older than the libLLVM that wrote the device functions of this dist.
    chroot "$os" /kudzu/bin/kudzu libdevice /var/libdevice.10.bc
    mount --bind "$os/var/libdevice.10.bc" "$os/kudzu/nvvm/libdevice/libdevice.10.bc"
    exec chroot "$os" env "$@"' sh "$os" "$dist" "$(realpath "$out")" "$PWD/scripts/apps" \
    HOME=/out KUDZU_CACHE_DIR=/out/cache PATH=/usr/bin:/bin:/usr/sbin:/sbin "$@"
