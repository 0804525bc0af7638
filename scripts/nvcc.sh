#!/bin/sh
# Opt-in: the vendor's compilers 11.8, 12.4 and 13.0, from package registries, into a folder outside the repository; prints the folder.
# 13 is PyPI's wheels; 12 and 11 are Debian trixie's and bookworm's non-free packages, unpacked without being installed. Nothing of
# them is committed.
#   scripts/nvcc.sh [11|12|13]...        KUDZU_TOOLS names the folder
set -eu
tools=${KUDZU_TOOLS:-${TMPDIR:-/tmp}/kudzu-tools}
mkdir -p "$tools"
[ $# -gt 0 ] || set -- 12 13

wheels() { # DIR PACKAGE...: unpacked wheels
    dir=$1
    shift
    python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$dir.wheels" "$@" >&2
    mkdir -p "$dir"
    for w in "$dir.wheels"/*.whl; do python3 -m zipfile -e "$w" "$dir"; done
    rm -rf "$dir.wheels"
}

nvcc13() {
    wheels "$1/w" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
    mv "$1/w/nvidia/cu13" "$1/tree"
    rm -rf "$1/w"
    chmod +x "$1"/tree/bin/* "$1"/tree/nvvm/bin/*
    ln -sf libcudart.so.13 "$1/tree/lib/libcudart.so"
    ln -sfn lib "$1/tree/lib64"
}

# A list of its own: the machine's packages and sources stay as they are.
debian() { # DIR SUITE PACKAGE...: packages, downloaded
    dir=$1 suite=$2
    shift 2
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/state" "$dir/debs"
    : >"$dir/state/status"
    uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | tr ' ' '\n' | grep -E '^https?://.*/debian/?$' | head -1)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main non-free" >"$dir/sources.list"
    cat >"$dir/apt.conf" <<EOF
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "-";
Dir::State "$dir/state";
Dir::State::lists "$dir/lists";
Dir::State::status "$dir/state/status";
Dir::Cache "$dir/cache";
APT::Architecture "amd64";
APT::Sandbox::User "root";
EOF
    APT_CONFIG=$dir/apt.conf apt-get -qq update >&2
    (cd "$dir/debs" && APT_CONFIG=$dir/apt.conf apt-get -qq download "$@" >&2)
}

# tree/ as the vendor's installer makes it. The libraries of nvidia-cuda-dev that are not the runtime are large and not needed.
toolkit() { # DIR SUITE PACKAGE...
    root=$1
    shift
    debian "$root/apt" "$@" nvidia-cuda-toolkit nvidia-cuda-dev libnvvm4
    mkdir -p "$root/deb" "$root/tree/bin" "$root/tree/nvvm/bin"
    lib=usr/lib/x86_64-linux-gnu
    for d in "$root"/apt/debs/*.deb; do
        dpkg-deb --fsys-tarfile "$d" | tar -x -C "$root/deb" --wildcards './usr/bin/*' './usr/include/*' './usr/lib/nvidia-cuda-toolkit/bin/*' \
            './usr/lib/nvidia-cuda-toolkit/libdevice/*' "./$lib/libcudart*" "./$lib/libcudadevrt*" "./$lib/libnvvm*" 2>/dev/null || true
    done
    mv "$root/deb/usr/bin"/* "$root/tree/bin/"
    rm -f "$root/tree/bin/nvcc"
    mv "$root/deb/usr/lib/nvidia-cuda-toolkit/bin/nvcc" "$root/deb/usr/lib/nvidia-cuda-toolkit/bin/crt" "$root/tree/bin/"
    mv "$root/deb/usr/lib/nvidia-cuda-toolkit/bin/cicc" "$root/tree/nvvm/bin/"
    mv "$root/deb/usr/lib/nvidia-cuda-toolkit/libdevice" "$root/tree/nvvm/"
    mv "$root/deb/usr/include" "$root/tree/include"
    mv "$root/deb/$lib" "$root/tree/lib"
    ln -sfn lib "$root/tree/lib64"
    cat >"$root/tree/bin/nvcc.profile" <<'EOF'
TOP              = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/lib:
PATH            += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES        +=  "-I$(TOP)/include" $(_SPACE_)
LIBRARIES        =+ $(_SPACE_) "-L$(TOP)/lib"
EOF
    rm -rf "$root/deb" "$root/apt"
}

nvcc12() {
    toolkit "$1" trixie libcudart12
    wheels "$1/w" nvidia-cuda-cccl-cu12==12.4.127.post1
    cp -r "$1/w/nvidia/cuda_cccl/include/." "$1/tree/include/"
    rm -rf "$1/w"
}

nvcc11() { toolkit "$1" bookworm libcudart11.0 libcu++-dev; }

for major in "$@"; do
    place=$tools/nvcc$major
    if [ ! -d "$place" ]; then
        echo "fetching nvcc $major" >&2
        rm -rf "$place.part"
        mkdir -p "$place.part"
        "nvcc$major" "$place.part"
        mv "$place.part" "$place"
    fi
    echo "$place/tree"
done
