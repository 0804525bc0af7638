#!/bin/sh
# AllReduce of two processes, in one run: ours (a program in C on dist, and this tree from Go), a loop in C that copies nothing, MPICH and
# Open MPI; then between two network namespaces ours through TCP and UCX, beside UCX's own point-to-point figure. What is not installed is passed over, and said.
#   scripts/nccl-bench.sh
# Debian: libmpich-dev mpich libopenmpi-dev openmpi-bin ucx-utils libucx0
set -eu
cd "$(dirname "$0")/.."
out=.build/bench/nccl
mkdir -p "$out"
echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors"
go test -c -o "$out/nccl.test" ./internal/shim/nccl

echo "== one host, two processes"
if [ -e dist/lib/libnccl.so.2 ]; then
    gcc -O2 -Iinclude -o "$out/ours" bench/nccl/ours.c -Ldist/lib -lnccl -lcudart
    LD_LIBRARY_PATH=$PWD/dist/lib "$out/ours"
else
    echo "a program in C: not without dist (make dist)"
fi
echo "-- from Go, and with messages instead of memory"
"$out/nccl.test" -test.run '^$' -test.bench '^BenchmarkProcesses$' -test.benchtime 1x -test.v 2>&1 | grep -E 'SHM|bytes'
echo "-- a loop in C"
gcc -O3 -march=native -ffast-math -o "$out/loop" bench/nccl/loop.c
"$out/loop"
for mpi in mpich openmpi; do
    echo "-- $mpi"
    if command -v "mpicc.$mpi" >/dev/null; then
        "mpicc.$mpi" -O2 -o "$out/$mpi" bench/nccl/mpi.c
        case $mpi in
        mpich) mpiexec.mpich -n 2 "$out/$mpi" ;;
        openmpi) mpiexec.openmpi --allow-run-as-root --oversubscribe -n 2 "$out/$mpi" ;;
        esac
    else
        echo "not installed"
    fi
done

echo "== two network namespaces"
(cd internal/shim/nccl && "../../../$out/nccl.test" -test.run '^$' -test.bench '^BenchmarkHosts$' -test.benchtime 1x -test.v 2>&1 | grep -E 'TRANSPORT|bytes|namespaces' || true)
echo "-- UCX's own, one direction"
if command -v ucx_perftest >/dev/null; then
    unshare -rnm sh -c '
        mount -t sysfs none /sys; ip link set lo up; ip link add ka type veth peer name kb
        unshare -nm sh -c "mount -t sysfs none /sys; exec sleep 300" &
        b=$!; trap "kill $b" EXIT
        until grep -q sleep /proc/$b/comm; do sleep 0.1; done
        ip link set kb netns $b; ip addr add 10.77.0.1/24 dev ka; ip link set ka up
        nsenter -t $b -n -m sh -c "ip link set lo up; ip addr add 10.77.0.2/24 dev kb; ip link set kb up"
        for row in "tag_lat 1024 5000" "tag_bw 1048576 500" "tag_bw 67108864 20" "stream_bw 67108864 20"; do
            set -- $row
            UCX_TLS=tcp UCX_NET_DEVICES=ka ucx_perftest >/dev/null 2>&1 &
            sleep 1
            echo "$1 of $2 bytes: µs and MB/s"
            UCX_TLS=tcp UCX_NET_DEVICES=kb nsenter -t $b -n -m ucx_perftest 10.77.0.1 -t $1 -s $2 -n $3 -w 20 2>&1 | tail -1
            wait $! || true
        done'
else
    echo "not installed"
fi
echo "load: $(cut -d' ' -f1-3 /proc/loadavg)"
