"""Times our ptxas and NVIDIA's on the kernels that Triton left in its caches, in turn, and writes a line of JSON.

   ptxas.py OURS THEIRS CACHES OUT"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TURNS = 7


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


ours, theirs, caches, out = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    made = os.path.join(folder, "out")
    total, worst = [0.0, 0.0], 0.0
    kernels = sorted(path for cache in Path(caches).glob("triton-*") for path in cache.rglob("*.ptx"))
    for path in kernels:
        with open(path) as f:
            target = re.search(r"^\.target (\w+)", f.read(), re.M)[1]
        best = [float("inf")] * 2
        for _ in range(TURNS):
            for i, program in enumerate((ours, theirs)):
                best[i] = min(best[i], seconds([program, "-lineinfo", "-v", f"--gpu-name={target}", path, "-o", made]))
        total = [t + b for t, b in zip(total, best)]
        worst = max(worst, best[0] / best[1])
release = re.search(r"release ([0-9.]+)", subprocess.run([theirs, "--version"], capture_output=True, text=True).stdout)[1]
with open(out, "w") as f:
    json.dump({"kernels": len(kernels), "ours_s": total[0], "theirs_s": total[1], "worst": worst, "turns": TURNS, "release": release}, f)
