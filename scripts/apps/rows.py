"""Cases of a client: each computes on Kudzu twice and on the client's CPU path twice, and is a line of JSON in the file $ROWS.

    client = Client("JAX", jax.__version__)
    client.case("cholesky", lambda: on_kudzu(f), lambda: on_the_cpu(f), bound=2e-6, group="linalg")
    client.figure("MLP, a step", lambda: step(gpu), lambda: step(cpu), group="training")

A case whose line is there already is not run again. scripts/apps/clients.sh starts the programs, scripts/apps/page.py writes the page."""

import ctypes
import inspect
import json
import os
import struct
import sys
import time

import numpy as np

LAUNCHES, INTERPRETED, WAITING = 6, 7, 16  # words of the file KUDZU_STATS: cpu.ReportLaunches, cpu.ReportInterpreted, cpu.ReportWaiting
AGAIN = 75  # exit status: a case failed and may have spoiled the process, or it is old; the others want a new one
PROCESS_SECONDS = 600  # after them a process makes way, so that each case has the rest of clients.sh's limit at least


def report():
    with open(os.environ["KUDZU_STATS"], "rb") as f:
        return struct.unpack("<17Q", f.read(17 * 8))


def launches():
    """How many launches Kudzu counted so far, in all processes of this run."""
    words = report()
    return words[LAUNCHES] + words[INTERPRETED]


def capability():
    """What the program sees: the variable, else what the device reports. Ask late: kudzu run chooses by what the process has loaded."""
    if value := os.environ.get("KUDZU_COMPUTE_CAPABILITY"):
        return value
    cuda, device, words = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), (ctypes.c_int(), ctypes.c_int())
    calls = [lambda: cuda.cuInit(0), lambda: cuda.cuDeviceGet(ctypes.byref(device), 0)]
    calls += [lambda w=w, a=a: cuda.cuDeviceGetAttribute(ctypes.byref(w), a, device) for w, a in zip(words, (75, 76))]
    if any(call() for call in calls):
        return "none"
    return f"{words[0].value}.{words[1].value}"


def clock(f):
    begin = time.perf_counter()
    f()
    return time.perf_counter() - begin


def settle(f, most=90.0):
    """Runs f until its code is the optimised one: nothing new is waited for, and its time does not fall, for five turns."""
    before, best, same, end = report()[WAITING], float("inf"), 0, time.perf_counter() + most
    while time.perf_counter() < end and same < 5:
        took = clock(f)
        same = same + 1 if took > best * 0.97 and report()[WAITING] <= before else 0
        best = min(best, took)
        time.sleep(0.03)


def least_by_turns(one, other, turns, enough=1.0):
    """The least times of both, which take turns, after one of each that is not counted: so many turns at least, and until both took a second."""
    one(), other()
    times = []
    while len(times) < turns or len(times) < 200 and sum(map(min, times)) < enough:
        times.append((clock(one), clock(other)))
    return [min(t) for t in zip(*times)]


def brief(e):
    """An exception on one line."""
    text = " ".join(f"{type(e).__name__}: {e}".split())
    return text if len(text) < 300 else f"{text[:150]} … {text[-150:]}"


def array(x):
    """x as a NumPy array; tensors of PyTorch, whose types NumPy may lack, by way of float."""
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        return (x.float() if x.is_floating_point() and x.element_size() < 4 else x).numpy()
    return np.asarray(x)


def error(got, want):
    """The largest difference, as a part of the largest magnitude in want; of integers the largest difference."""
    if isinstance(want, (tuple, list)):
        return max(error(g, w) for g, w in zip(got, want, strict=True))
    got, want = array(got), array(want)
    if got.shape != want.shape:
        raise ValueError(f"the shape is {got.shape}, not {want.shape}")
    if want.size == 0:
        return 0.0
    whole = want.dtype.kind in "iub"
    got, want = (a.astype(complex if a.dtype.kind == "c" else float) for a in (got, want))
    far = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0, np.abs(got - want))
    if np.isnan(far).any():
        return float("inf")
    finite = np.abs(want[np.isfinite(want)])
    scale = 1.0 if whole or finite.size == 0 or finite.max() == 0 else finite.max()
    return float(far.max() / scale)


class Client:
    """The rows of one client. Arguments of the program are names of cases: only these run. Of source is where the client is from."""

    def __init__(self, name, version, source="PyPI", **more):
        self.file, self.end = os.environ["ROWS"], time.monotonic() + PROCESS_SECONDS
        self.row = {"client": name, "version": version, "source": source, "day": time.strftime("%Y-%m-%d"), **more}
        self.done = set()
        if os.path.exists(self.file):
            with open(self.file) as f:
                self.done = {json.loads(line)["case"] for line in f}
        self.running = self.file + ".running"
        if os.path.exists(self.running):  # what the last process was at when it ended
            with open(self.running) as f:
                self.write(case=f.read(), status="failed", note="the process ended or ran out of time", launches=0)

    def wants(self, name):
        """Whether this process is to run the case."""
        return name not in self.done and (not sys.argv[1:] or name in sys.argv[1:])

    def write(self, **values):
        self.row.setdefault("capability", capability())
        line = json.dumps({**self.row, **values})
        print(line, flush=True)
        with open(self.file, "a") as f:
            f.write(line + "\n")
        self.done.add(values["case"])
        if os.path.exists(self.running):
            os.remove(self.running)

    def measure(self, name, row, fill):
        """Lets fill complete a row, and writes it. What failed may have spoiled the process: it ends."""
        if not self.wants(name):
            return
        with open(self.running, "w") as f:
            f.write(name)
        row = {"case": name, "launches": 0, **row}
        before = launches()
        try:
            fill(row)
        except Exception as e:
            row.update(status="failed", note=brief(e), launches=launches() - before)
        if row.get("error") == float("inf"):
            row["error"] = "NaN"
        self.write(**row)
        if row["status"] == "failed" or time.monotonic() > self.end:
            sys.stdout.flush()
            os._exit(AGAIN)

    def case(self, name, run, want, bound=0.0, group="operations", cpu_s=None):
        """run computes on Kudzu and returns arrays or tensors of the host, or a tuple of them; want the same on the CPU, or is what the
        CPU made, in cpu_s seconds.

        Right is what differs by no more than bound (see error), both times, and launched a kernel of ours both times."""

        def fill(row):
            if not inspect.isroutine(want):
                expected = want
                if cpu_s is not None:
                    row["cpu_s"] = cpu_s
            else:
                for _ in range(2):  # the second time is the one to compare with
                    begin = time.perf_counter()
                    expected = want()
                    row["cpu_s"] = time.perf_counter() - begin
            row["error"] = 0.0
            counts = []
            for turn in ("first_s", "second_s"):
                before, begin = launches(), time.perf_counter()
                got = run()
                row[turn] = time.perf_counter() - begin
                row["error"] = max(row["error"], error(got, expected))
                counts.append(launches() - before)
            row["launches"] = counts[-1]
            if min(counts) == 0:
                row.update(status="failed", note="no launch of ours was counted")
            else:
                row["status"] = "right" if row["error"] <= bound else "wrong"

        self.measure(name, {"group": group, "bound": bound}, fill)

    def figure(self, name, kudzu, cpu, group="operations", turns=5):
        """Two times of the same work, with the same number of threads. kudzu and cpu are functions, of which the least of some turns
        counts once Kudzu's code is the optimised one, or seconds that the caller measured so."""

        def fill(row):
            before = launches()
            if callable(kudzu):
                settle(kudzu)
                row["second_s"], row["cpu_s"] = least_by_turns(kudzu, cpu, turns)
            else:
                row["second_s"], row["cpu_s"] = kudzu, cpu
            row["launches"] = launches() - before
            row["status"] = "figure"
            if callable(kudzu) and row["launches"] == 0:
                row.update(status="failed", note="no launch of ours was counted")

        self.measure(name, {"group": group, "figure": True}, fill)
