#!/bin/sh
# Opt-in: NVIDIA's own NCCL (BSD), built from source, on our driver: its kernels instead of our library. A table of its protocols, with
# AllReduce, ReduceScatter and AllGather of f32 on 2 and 4 devices of one process; every value is looked at (nccl_sums.c).
#
#	scripts/apps/nccl_source.sh [libnccl.so.2 | folder of the sources, a copy of NVIDIA's repository nccl, 2.27]
#
# A folder is built with our nvcc, which takes long: only the functions that the table needs (ONLY_FUNCS). A library must have PTX. KUDZU_APPS
# names where the sources and programs go (~/.cache/kudzu-apps). NCCL_SIZES and NCCL_ROUNDS change what is run. The exit is 1 where a value
# was wrong or a program failed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "$here/../../dist" && pwd)
home=${KUDZU_APPS:-$HOME/.cache/kudzu-apps}/nccl-source
mkdir -p "$home/lib"

given=${1:-$home/source}
if [ -d "$given/src" ]; then
	PATH=$dist/bin:$PATH make -C "$given" src.build BUILDDIR="$home/build" CUDA_HOME="$dist" CUDA_LIB="$dist/lib" \
		ONLY_FUNCS='AllReduce Sum f32 RING|ReduceScatter Sum f32 RING|AllGather RING|SendRecv' \
		NVCC_GENCODE=-gencode=arch=compute_80,code=compute_80 >"$home/build.log" 2>&1 || {
		tail -20 "$home/build.log"
		exit 1
	}
	given=$home/build/lib/libnccl.so.2
fi
[ -f "$given" ] || { echo "nccl_source: put a copy of NVIDIA's repository nccl at $given, or name a libnccl.so.2" >&2; exit 1; }
cp -L "$given" "$home/lib/libnccl.so.2"
cc -O1 -I"$dist/include" -o "$home/sums" "$here/nccl_sums.c" -L"$home/lib" -l:libnccl.so.2 -L"$dist/lib" -lcudart -Wl,--unresolved-symbols=ignore-in-shared-libs

echo '| protocol | devices | bytes | said | exit |'
echo '|---|---|---|---|---|'
bad=0
for proto in LL LL128 Simple; do
	for n in 2 4; do
		for bytes in ${NCCL_SIZES:-1024 1048576 16777216}; do
			code=0
			out="$home/$proto.$n.$bytes.out"
			env KUDZU_DEVICES=$n KUDZU_CACHE_DIR="$home/cache" NCCL_PROTO=$proto NCCL_ALGO=Ring NCCL_SOCKET_IFNAME=lo LD_LIBRARY_PATH="$home/lib:$dist/lib" \
				timeout 900 "$home/sums" $bytes ${NCCL_ROUNDS:-3} >"$out" 2>&1 || code=$?
			[ "$code" = 0 ] || bad=1
			echo "| $proto | $n | $bytes | $(tail -1 "$out") | $code |"
		done
	done
done
exit $bad
