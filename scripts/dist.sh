#!/bin/sh
# Builds the shared libraries, and the command if there is one, into a folder:
#   scripts/dist.sh [-l] [folder]      -l: libraries only; the folder is dist if not named
# Several may run at the same time; what is up to date is left alone.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
only=
[ "${1:-}" != -l ] || { only=libraries; shift; }
dist=${1:-$root/dist}
case $dist in /*) ;; *) dist=$PWD/$dist ;; esac
lib=$dist/lib
cc=${CC:-cc}
mkdir -p "$lib" "$dist/bin" "$dist/.obj"

exec 9>"$dist/.lock"
flock 9

case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) echo "dist: machine $(uname -m) is not supported" >&2; exit 1 ;;
esac

# newer OUTPUT INPUT...: is the output missing, or older than an input?
newer() {
	out=$1
	shift
	[ -e "$out" ] || return 0
	[ -n "$(find "$@" -newer "$out" -print | head -n 1)" ]
}

# KUDZU_CFLAGS: a sanitizer for base, say
cflags="-std=gnu11 -O2 -g -fPIC -fvisibility=hidden -Wall -Wextra -Werror ${KUDZU_CFLAGS:-}"
ldflags="-shared -Wl,-z,now,-z,relro,-z,nodelete,-z,defs"

base=$root/c/base
rows=$root/internal/abi # the lists of functions, zrows_*.h
if newer "$lib/libkudzu-base.so" "$base" "$base"/* "$rows"/z*.h "$0"; then
	rm -rf "$dist/.obj/base"
	mkdir -p "$dist/.obj/base"
	for src in "$base"/*.c "$base/entry_$arch.S"; do
		# shellcheck disable=SC2086
		$cc $cflags -I"$base" -I"$rows" -c "$src" -o "$dist/.obj/base/$(basename "$src").o"
	done
	# shellcheck disable=SC2086
	$cc $ldflags -o "$lib/.base" "$dist/.obj/base"/*.o -Wl,-soname,libkudzu-base.so \
		-Wl,--version-script="$base/base.map" -lpthread -ldl
	mv "$lib/.base" "$lib/libkudzu-base.so"
fi

# front KEY SONAME [MAP]
front() {
	src=$root/c/front/zfront_$1.S
	map=${3:-$root/c/front/zfront_$1.map}
	newer "$lib/$2" "$src" "$map" "$root/c/front/front_$arch.S" "$lib/libkudzu-base.so" "$0" || return 0
	# shellcheck disable=SC2086
	$cc $ldflags -nostdlib -I"$base" -I"$rows" -o "$lib/.front" "$src" -Wl,-soname,"$2" -Wl,--version-script="$map" \
		-Wl,-rpath,'$ORIGIN' -L"$lib" -l:libkudzu-base.so
	mv "$lib/.front" "$lib/$2"
}
grep -v '^#' "$root/c/front/zlibraries.txt" | while read -r key soname plain; do
	[ -n "$key" ] || continue
	front "$key" "$soname"
	[ -z "$plain" ] || [ -e "$lib/$plain" ] || ln -s "$soname" "$lib/$plain"
done
# The parts of a library: the same names, under a version node of their own.
grep -v '^#' "$root/c/front/zparts.txt" | while read -r key node part; do
	[ -n "$key" ] || continue
	map=$dist/.obj/$part.map
	sed "s/^$node {/$part {/" "$root/c/front/zfront_$key.map" >"$map.new"
	cmp -s "$map.new" "$map" && rm "$map.new" || mv "$map.new" "$map"
	front "$key" "$part" "$map"
done

# FFTW's interface, a program on cuFFT and the runtime: cufftw VERSION RUNTIME.
cufftw() {
	soname=libcufftw.so.$1
	newer "$lib/$soname" "$root/c/cufftw" "$root/c/cufftw"/* "$root/include/device/cufftw.h" "$lib/libcufft.so.$1" "$0" || return 0
	printf '%s {\nglobal:\n\tfftw*;\nlocal:\n\t*;\n};\n' "$soname" >"$dist/.obj/$soname.map"
	# shellcheck disable=SC2086
	$cc $cflags -fvisibility=default $ldflags -I"$root/include" -I"$root/include/device" -o "$lib/.cufftw" "$root/c/cufftw"/*.c \
		-Wl,-soname,"$soname" -Wl,--version-script="$dist/.obj/$soname.map" -Wl,-rpath,'$ORIGIN' -L"$lib" \
		-l:"libcufft.so.$1" -l:"libcudart.so.$2" -lm -lpthread
	mv "$lib/.cufftw" "$lib/$soname"
}
cufftw 11 12
cufftw 12 13
[ -e "$lib/libcufftw.so" ] || ln -s libcufftw.so.12 "$lib/libcufftw.so"

# in_c NAME SONAME NODE PATTERN LIBRARIES...: a library in C, of c/NAME; the node of its names is empty where NVIDIA's has none.
in_c() {
	name=$1 soname=$2 node=$3 pattern=$4
	shift 4
	newer "$lib/$soname" "$root/c/$name" "$root/c/$name"/* "$root/include"/*.h "$root/include/device" "$base"/*.h "$lib/libkudzu-base.so" "$0" || return 0
	printf '%s {\nglobal:\n\t%s\nlocal:\n\t*;\n};\n' "$node" "$pattern" >"$dist/.obj/$soname.map"
	# shellcheck disable=SC2086
	$cc $cflags -fvisibility=default $ldflags -I"$root/include" -I"$root/include/device" -I"$base" -I"$rows" -o "$lib/.$name" \
		"$root/c/$name"/*.c -Wl,-soname,"$soname" -Wl,--version-script="$dist/.obj/$soname.map" -Wl,-rpath,'$ORIGIN' -L"$lib" "$@"
	mv "$lib/.$name" "$lib/$soname"
}
in_c cufile libcufile.so.0 '' 'cuFile*;' -l:libcuda.so.1 -lpthread
in_c nvshmem libnvshmem_host.so.3 NVSHMEM 'nvshmem*;'
in_c nvtx libnvToolsExt.so.1 libnvToolsExt.so.1 'nvtx*;' -l:libkudzu-base.so -lpthread
in_c nvtx libkudzu-nvtx.so '' 'InitializeInjectionNvtx2;' -l:libkudzu-base.so -lpthread
for soname in libcufile.so.0 libnvshmem_host.so.3 libnvToolsExt.so.1; do
	[ -e "$lib/${soname%%.so*}.so" ] || ln -s "$soname" "$lib/${soname%%.so*}.so"
done

# What programs name that are linked with the static runtime library. It opens the shared one, which has the device runtime in it.
static=$root/c/static
if newer "$lib/libcudart_static.a" "$static" "$static"/* "$base/rows.inc" "$base/notes.inc" "$rows/zrows_cudart.h" "$0"; then
	mkdir -p "$dist/.obj/static"
	for src in stubs.S runtime.c; do
		# shellcheck disable=SC2086
		$cc $cflags -I"$base" -I"$rows" -DKZ_FOLDER="\"$lib\"" -c "$static/$src" -o "$dist/.obj/static/$src.o"
	done
	rm -f "$lib/.static"
	"${AR:-ar}" qcs "$lib/.static" "$dist/.obj/static"/*.o
	mv "$lib/.static" "$lib/libcudart_static.a"
fi
printf '!<arch>\n' >"$lib/libcudadevrt.a"

# What LD_AUDIT names: no libc in it, so that the loader does not bring a second one.
audit=$root/c/audit
if newer "$lib/libkudzu-audit.so" "$audit" "$audit"/* "$0"; then
	# shellcheck disable=SC2086
	$cc $cflags $ldflags -ffreestanding -fno-stack-protector -fno-tree-loop-distribute-patterns -nostdlib \
		-o "$lib/.audit" "$audit/audit.c" -Wl,-soname,libkudzu-audit.so
	mv "$lib/.audit" "$lib/libkudzu-audit.so"
fi

# What CUDA C++ is compiled with: the headers of the C interfaces, and over them those of CUDA C++, which are for both sides.
if newer "$dist/include/kudzu/.made" "$root/include" $(find "$root/include" -type f) "$0"; then
	rm -rf "$dist/include"
	mkdir -p "$dist/include"
	cp "$root"/include/*.h "$dist/include"
	cp -R "$root"/include/device/. "$dist/include"
	: >"$dist/include/kudzu/.made"
fi

# What LD_PRELOAD names: no libc of its own either, so that it fits every program's.
devices=$root/c/devices
if newer "$lib/libkudzu-devices.so" "$devices" "$devices"/* "$0"; then
	# shellcheck disable=SC2086
	$cc $cflags -shared -Wl,-z,now,-z,relro -fno-stack-protector -nostdlib \
		-o "$lib/.devices" "$devices/devices.c" -Wl,-soname,libkudzu-devices.so
	mv "$lib/.devices" "$lib/libkudzu-devices.so"
fi

# What is preloaded into the clang that reads CUDA C++.
if newer "$lib/libkudzu-clang.so" "$root/c/clang" "$root/c/clang"/* "$0"; then
	# shellcheck disable=SC2086
	$cc $cflags -shared -Wl,-z,now,-z,relro -o "$lib/.clang" "$root/c/clang/clang.c" -Wl,-soname,libkudzu-clang.so -ldl
	mv "$lib/.clang" "$lib/libkudzu-clang.so"
fi

# What starts a program where the files of a GPU are. Without the loader, whose variables are the program's.
if newer "$lib/kudzu-enter" "$root/c/enter" "$root/c/enter"/* "$0"; then
	if $cc -std=gnu11 -O2 -Wall -Wextra -Werror -static -o "$lib/.enter" "$root/c/enter/enter.c"; then
		mv "$lib/.enter" "$lib/kudzu-enter"
	else
		echo "dist: no static libc: kudzu run answers for /dev/nvidia0 by a preloaded library only" >&2
	fi
fi

# Stacks of goroutines are not made smaller: internal/abi/door.go has them grown for the program's signal handlers. The runtime keeps no
# file of its own open, and reads none at its start: not for its poller, not for the limits of the cgroup (the overlays).
cd "$root"
src=$(go env GOROOT)/src/runtime
printf '{"Replace": {"%s/netpoll_epoll.go": "%s/cmd/libkudzu/netpoll_epoll.go.overlay", "%s/cgroup_linux.go": "%s/cmd/libkudzu/cgroup_linux.go.overlay"}}\n' \
	"$src" "$root" "$src" "$root" >"$dist/.obj/overlay.json"
image() {
	CGO_ENABLED=1 go build "$@" -buildmode=c-shared -trimpath -buildvcs=false \
		-ldflags="-s -w -X=runtime.godebugDefault=gcshrinkstackoff=1,containermaxprocs=0,updatemaxprocs=0 -extldflags=-Wl,-soname,libkudzu.so,-z,now,--version-script=$root/cmd/libkudzu/libkudzu.map" \
		-o "$dist/.obj/libkudzu.so" ./cmd/libkudzu
}
# replace NEW OLD: a file that is the same stays, with its time: programs that run meanwhile, and the cache, know it by that.
replace() {
	if cmp -s "$1" "$2"; then
		rm "$1"
	else
		mv "$1" "$2"
	fi
}
# The overlays are for the releases of Go that have these interfaces (1.25 and 1.26 do). With another one
# the image is built as Go is; only a program that closes all its files would notice.
# Go knows what is up to date, but with an overlay compiles all C again.
if newer "$dist/.obj/libkudzu.so" go.mod go.sum "$(go env GOROOT)/VERSION" "$0" $(find cmd/libkudzu internal -name '*_test.go' -o -name testdata -prune -o -print); then
	if ! image -overlay "$dist/.obj/overlay.json"; then
		image
		echo "dist: $(go env GOVERSION) does not take the poller without files; built with Go's own" >&2
	fi
fi
rm -f "$dist/.obj/libkudzu.h"
cp "$dist/.obj/libkudzu.so" "$lib/.image" # what Go has linked stays as it is: Go knows by it whether to link again
go run ./cmd/libkudzu/relr "$lib/.image" || echo "dist: libkudzu.so stays as it was linked" >&2
replace "$lib/.image" "$lib/libkudzu.so"
if [ -z "$only" ] && ls cmd/kudzu/*.go >/dev/null 2>&1; then
	# At an address of the system's choice, and with nothing left to write that is called through.
	CGO_ENABLED=${KUDZU_CLI_CGO:-1} go build -buildmode=pie -trimpath -buildvcs=false -ldflags="-s -w -bindnow" -o "$dist/.obj/kudzu" ./cmd/kudzu
	cp "$dist/.obj/kudzu" "$dist/bin/.kudzu"
	replace "$dist/bin/.kudzu" "$dist/bin/kudzu"
	# The same program under names that others look for: one small program that starts it, with hard links where there are such.
	named=$dist/.obj/named
	if newer "$named" "$root/c/named" "$root/c/named"/* "$0"; then
		$cc -std=gnu11 -O2 -Wall -Wextra -Werror -s -static -o "$named" "$root/c/named/named.c" 2>/dev/null ||
			$cc -std=gnu11 -O2 -Wall -Wextra -Werror -s -o "$named" "$root/c/named/named.c"
	fi
	"$dist/bin/kudzu" links | while read -r name; do
		if [ -L "$dist/bin/$name" ] || ! cmp -s "$named" "$dist/bin/$name"; then
			ln -f "$named" "$dist/bin/$name" 2>/dev/null || { rm -f "$dist/bin/$name" && cp "$named" "$dist/bin/$name"; }
		fi
	done
	# Where clients look below a folder of CUDA's for libNVVM, and for libraries.
	mkdir -p "$dist/nvvm/lib64"
	for name in libnvvm.so libnvvm.so.4; do
		ln -sf ../../lib/libnvvm.so.4 "$dist/nvvm/lib64/$name"
	done
	ln -sfn lib "$dist/lib64"
	# Where a folder of CUDA has it. The oldest libLLVM writes it, so that all read it.
	bc=$dist/nvvm/libdevice/libdevice.10.bc
	if newer "$bc" "$root/internal/libdevice/zkernels.lz4" "$root/internal/libdevice/cnames.go" "$0"; then
		oldest=$("$root/scripts/setup.sh" found | tr ' ' '\n' | sort -n | head -n 1)
		KUDZU_LLVM=$("$root/scripts/setup.sh" library "$oldest" || true) "$dist/bin/kudzu" libdevice "$bc"
	fi
fi
