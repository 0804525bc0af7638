#!/usr/bin/env python3
"""Times kudzu cc and NVIDIA's nvcc in turn, on a program with Thrust's sort: one command from source to program.

  scripts/cc-cold.py THEIRS [CCCL] [OURS] [TURNS]

THEIRS is NVIDIA's nvcc (scripts/nvcc.sh 13 fetches one), CCCL the folder that has thrust in it (THEIRS' own), OURS
Kudzu's (dist/bin/nvcc). Both have the same command line and the same CCCL; every turn has a source of its own, so that
no cache knows it. Times are the least and the median, in seconds: what the clock says, and what the processes of the
command took of processors, which a busy machine changes less."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SORT = """#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#include <cstdio>
int main() {
    thrust::host_vector<int> h(1 << 16);
    unsigned seed = %d;
    for (int &n : h) n = (seed = seed * 1664525u + 1013904223u) >> 12;
    thrust::device_vector<int> d = h;
    thrust::sort(d.begin(), d.end());
    h = d;
    bool sorted = true;
    for (size_t i = 1; i < h.size(); i++) sorted &= h[i - 1] <= h[i];
    std::printf("sorted %%d\\n", sorted);
}
"""


def turn(compiler, cccl, source, program):
    """One compilation; its seconds by the clock and of processors."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    r = subprocess.run([compiler, "-O2", "-std=c++17", "-arch=sm_80", "-I", cccl, source, "-o", program], capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode:
        sys.exit(f"cc-cold: {compiler}: {r.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(theirs, cccl="", ours="dist/bin/nvcc", turns="5"):
    cccl = cccl or os.path.join(os.path.dirname(theirs), "../include/cccl")
    times = {"theirs": [], "ours": []}
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "sort.cu"), os.path.join(folder, "sort")
        for n in range(-1, int(turns)):
            for kind, compiler in (("theirs", theirs), ("ours", ours)):
                with open(source, "w") as f:
                    f.write(SORT % (2 * os.getpid() + n))
                took = turn(os.path.abspath(compiler), cccl, source, program)
                if n >= 0:  # the first turn reads files
                    times[kind].append(took)
        said = subprocess.run([program], capture_output=True, text=True, check=False).stdout  # the last one is ours
    row = {"row": "Thrust sort", "turns": int(turns), "program": said.strip(), "load": round(os.getloadavg()[0], 1)}
    for what, place in (("clock", 0), ("processor", 1)):
        for least, f in (("least", min), ("median", statistics.median)):
            a, b = (f(t[place] for t in times[k]) for k in ("ours", "theirs"))
            row[f"{what}_{least}"] = {"ours": round(a, 2), "theirs": round(b, 2), "ratio": round(a / b, 2)}
    print(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[1:])
