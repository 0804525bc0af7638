#!/usr/bin/env python3
"""Opt-in: the code that Kudzu makes of the bench's kernels for AMD's GPUs beside what clang makes of the same source as HIP.
   scripts/amd/code.py TABLE gfx1100 [gfx90a ...]        after `make dist`; needs clang, llvm-readelf and llvm-objdump 19 or newer
Instructions are those of the whole kernel, not of a run; waits, hints and padding are not counted. The mma kernels have no HIP spelling."""
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULES = ["stream", "compute", "gemm", "atomic", "nn", "sort"]
HINTS = re.compile(r"s_(code_end|delay_alu|clause|nop|set_inst_prefetch_distance|waitcnt\w*|wait_\w+|sendmsg)")


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def facts(llvm, obj):
    """Name -> [instructions, vector registers, spilled registers] of an object's kernels."""
    out, name = {}, None
    for line in run(f"{llvm}/llvm-objdump", "-d", "--no-show-raw-insn", obj).splitlines():
        if m := re.match(r"[0-9a-f]+ <([^>]+)>:", line):
            name = m.group(1)
            out.setdefault(name, [0, 0, 0])
        elif name and (m := re.match(r"\s+([a-z]\w+)", line)) and not HINTS.match(m.group(1)):
            out[name][0] += 1
    kernel = {}
    for line in run(f"{llvm}/llvm-readelf", "--notes", obj).splitlines():
        if m := re.match(r"\s+(?:- )?\.(name|vgpr_count|vgpr_spill_count):\s+(\S+)", line):
            kernel[m.group(1)] = m.group(2)
        if "vgpr_spill_count" in kernel:
            out[kernel["name"]][1:] = int(kernel["vgpr_count"]), int(kernel["vgpr_spill_count"])
            kernel = {}
    return {k: v for k, v in out.items() if v[1]}


def target(arch, llvm, clang, work):
    rows = []
    for module in MODULES:
        hip = f"{work}/{arch}.{module}.o"
        run(clang, "-x", "hip", f"--offload-arch={arch}", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-O3", "-Wno-pass-failed", "-Xclang", "-mcode-object-version=5",
            "--no-gpu-bundle-output", "-c", "-o", hip, f"{ROOT}/bench/kernels/{module}.cu")
        run(f"{ROOT}/dist/bin/kudzu", "compile", "--target", arch, "--emit", "obj", "-o", f"{work}/{arch}", f"{ROOT}/bench/kernels/{module}.ptx")
        theirs, ours = facts(llvm, hip), facts(llvm, f"{work}/{arch}/{module}.obj")
        rows += [(name, theirs[name], ours[name]) for name in theirs if name in ours]
    return rows


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    clang = run(f"{ROOT}/scripts/setup.sh", "clang").strip()
    llvm = os.path.dirname(os.path.realpath(run("sh", "-c", f"command -v {clang}").strip()))
    text = ["| processor | kernel | clang: instructions | Kudzu | ratio | clang: registers | Kudzu | clang: spilled | Kudzu |", "|---|---|--:|--:|--:|--:|--:|--:|--:|"]
    with tempfile.TemporaryDirectory() as work:
        for arch in sys.argv[2:]:
            rows, logs = target(arch, llvm, clang, work), 0.0
            for name, h, k in rows:
                logs += math.log(h[0] / k[0])
                text.append(f"| {arch} | {name} | {h[0]} | {k[0]} | {h[0] / k[0]:.2f} | {h[1]} | {k[1]} | {h[2]} | {k[2]} |")
            text.append(f"| {arch} | **geomean of {len(rows)}** | | | {math.exp(logs / len(rows)):.2f} | | | | |")
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.write("\n".join(text) + "\n")


main()
