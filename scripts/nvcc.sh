#!/bin/sh
# Opt-in: the vendor's compilers 12 and 13, from package registries, into a folder outside the repository; prints the folder.
# 13 is PyPI's wheels; 12 is Debian trixie's non-free packages, unpacked without being installed. Nothing of them is committed.
#   scripts/nvcc.sh [12|13|11]...        KUDZU_TOOLS names the folder
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
debian() { # DIR PACKAGE...: packages of trixie, downloaded
    dir=$1
    shift
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/state" "$dir/debs"
    : >"$dir/state/status"
    uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | tr ' ' '\n' | grep -E '^https?://.*/debian/?$' | head -1)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri trixie non-free" >"$dir/sources.list"
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

nvcc12() {
    debian "$1/apt" nvidia-cuda-toolkit nvidia-cuda-dev libcudart12 libnvvm4
    mkdir -p "$1/deb" "$1/tree/bin" "$1/tree/nvvm/bin"
    lib=usr/lib/x86_64-linux-gnu
    for d in "$1"/apt/debs/*.deb; do # the libraries of nvidia-cuda-dev that are not the runtime are large and not needed
        dpkg-deb --fsys-tarfile "$d" | tar -x -C "$1/deb" --wildcards './usr/bin/*' './usr/include/*' './usr/lib/nvidia-cuda-toolkit/bin/*' \
            './usr/lib/nvidia-cuda-toolkit/libdevice/*' "./$lib/libcudart*" "./$lib/libcudadevrt*" "./$lib/libnvvm*" 2>/dev/null || true
    done
    mv "$1/deb/usr/bin"/* "$1/tree/bin/"
    rm -f "$1/tree/bin/nvcc"
    mv "$1/deb/usr/lib/nvidia-cuda-toolkit/bin/nvcc" "$1/deb/usr/lib/nvidia-cuda-toolkit/bin/crt" "$1/tree/bin/"
    mv "$1/deb/usr/lib/nvidia-cuda-toolkit/bin/cicc" "$1/tree/nvvm/bin/"
    mv "$1/deb/usr/lib/nvidia-cuda-toolkit/libdevice" "$1/tree/nvvm/"
    mv "$1/deb/usr/include" "$1/tree/include"
    mv "$1/deb/$lib" "$1/tree/lib"
    ln -sfn lib "$1/tree/lib64"
    cat >"$1/tree/bin/nvcc.profile" <<'EOF'
TOP              = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/lib:
PATH            += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES        +=  "-I$(TOP)/include" $(_SPACE_)
LIBRARIES        =+ $(_SPACE_) "-L$(TOP)/lib"
EOF
    wheels "$1/w" nvidia-cuda-cccl-cu12==12.4.127.post1
    cp -r "$1/w/nvidia/cuda_cccl/include/." "$1/tree/include/"
    rm -rf "$1/deb" "$1/apt" "$1/w"
}

# 11.8: no nvcc in the registries; its runtime library, to take the names and versions from.
nvcc11() {
    wheels "$1/w" nvidia-cuda-runtime-cu11==11.8.89 nvidia-cuda-nvcc-cu11==11.8.89
    mkdir -p "$1/tree"
    mv "$1/w/nvidia/cuda_runtime"/* "$1/tree/"
    rm -rf "$1/w"
}

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
