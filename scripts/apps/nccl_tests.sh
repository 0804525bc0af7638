#!/bin/sh
# Opt-in: NVIDIA's nccl-tests (BSD) built with our nvcc and run on our NCCL, on 2 and on 4 devices of one process: a table of the eleven
# programs, with the values that were wrong and the exit.
#
#	scripts/apps/nccl_tests.sh [folder of the sources, a copy of NVIDIA's repository nccl-tests]
#
# KUDZU_APPS names where the sources and programs go (~/.cache/kudzu-apps). The exit is 1 where a program failed.
set -eu
dist=$(cd "$(dirname "$0")/../../dist" && pwd)
home=${KUDZU_APPS:-$HOME/.cache/kudzu-apps}/nccl-tests
programs='all_reduce all_gather broadcast reduce_scatter reduce alltoall alltoallv scatter gather sendrecv hypercube'

mkdir -p "$home"
source=${1:-$home/source}
[ -d "$source/src" ] || { echo "nccl_tests: put a copy of NVIDIA's repository nccl-tests at $source" >&2; exit 1; }
PATH=$dist/bin:$PATH make -C "$source/src" build BUILDDIR="$home/build" CUDA_HOME="$dist" NCCL_HOME="$dist" \
	NVCC_GENCODE=-gencode=arch=compute_89,code=compute_89 >"$home/build.log" 2>&1 || {
	tail -20 "$home/build.log"
	exit 1
}

echo '| program | devices | rows | wrong values | exit |'
echo '|---|---|---|---|---|'
bad=0
for p in $programs; do
	for n in 2 4; do
		code=0
		# hypercube's steps need those before them; with devices of one thread they would all be one group, which has no order.
		ranks="-g $n"
		[ $p != hypercube ] || ranks="-t $n -g 1"
		KUDZU_DEVICES=$n timeout 300 "$dist/bin/kudzu" run "$home/build/${p}_perf" -b 4K -e 256K -f 8 $ranks -n 2 -w 1 >"$home/$p.$n.out" 2>&1 || code=$?
		rows=$(grep -c '^ *[0-9]' "$home/$p.$n.out" || true)
		wrong=$(sed -n 's/^# Out of bounds values : //p' "$home/$p.$n.out")
		[ "$code" = 0 ] && [ "$wrong" = '0 OK' ] && [ "$rows" -gt 0 ] || bad=1
		echo "| $p | $n | $rows | ${wrong:-none said} | $code |"
	done
done
exit $bad
