"""PyTorch's times on Kudzu and on its CPU path, with the same threads: operators of a million elements, the cost of a small one, training
steps, and import with a first operation from a warm cache. KUDZU_THREADS says how many threads both have."""

import copy
import os
import subprocess
import sys
import time

threads = int(os.environ.get("KUDZU_THREADS", "1"))
os.environ["OPENBLAS_NUM_THREADS"] = str(threads)  # which PyTorch does not tell it

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import torch_models  # noqa: E402
from rows import Client, settle  # noqa: E402

client = Client(os.environ.get("CLIENT", "torch_speed").replace("_", "-"), torch.__version__, source="Debian 13", threads=threads)
torch.set_num_threads(threads)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
sync = torch.cuda.synchronize


def both(name, f, *args, group="operators of 1 M elements"):
    """f on the same operands: least of several turns each."""
    if not client.wants(name):
        return
    on = [a.cuda() if isinstance(a, torch.Tensor) else a for a in args]

    def kudzu():
        f(*on)
        sync()

    with torch.no_grad():
        client.figure(name, kudzu, lambda: f(*args), group=group, turns=7)


def operators():
    torch.manual_seed(1)
    n = 1 << 20
    x, y, m = torch.randn(n), torch.rand(n) + 0.5, torch.randn(1024, 1024)
    i, k = torch.randint(0, n, (n,)), torch.randint(0, 1000, (n,))
    half = x.half()
    image, kernel = torch.randn(16, 16, 64, 64), torch.randn(16, 16, 3, 3)
    w, b = torch.randn(1024), torch.randn(1024)
    for name, f, *args in (
        ("add", torch.add, x, y), ("mul", torch.mul, x, y), ("div", torch.div, x, y), ("exp", torch.exp, x), ("log", torch.log, y), ("sqrt", torch.sqrt, y), ("tanh", torch.tanh, x),
        ("sigmoid", torch.sigmoid, x), ("relu", F.relu, x), ("gelu", F.gelu, x), ("silu", F.silu, x), ("pow", torch.pow, y, 1.7), ("where", lambda a, b: torch.where(a > 0, a, b), x, y),
        ("clamp", lambda a: a.clamp(-1, 1), x), ("add, broadcast", torch.add, m, w), ("transpose, contiguous", lambda a: a.t().contiguous(), m), ("copy to f16", lambda a: a.half(), x),
        ("add f16", torch.add, half, half), ("sum", torch.sum, x), ("sum of rows", lambda a: a.sum(1), m), ("sum of columns", lambda a: a.sum(0), m), ("mean", torch.mean, x), ("var", torch.var, x),
        ("max", torch.max, x), ("argmax of rows", lambda a: a.argmax(1), m), ("norm", torch.linalg.vector_norm, x), ("softmax", lambda a: a.softmax(1), m), ("log_softmax", lambda a: a.log_softmax(1), m),
        ("layer_norm", lambda a, w, b: F.layer_norm(a, (1024,), w, b), m, w, b), ("batch_norm", lambda a: F.batch_norm(a, None, None, training=True), image), ("cumsum", lambda a: a.cumsum(0), x),
        ("cumsum of rows", lambda a: a.cumsum(1), m), ("sort", lambda a: a.sort(), x), ("sort of rows", lambda a: a.sort(1), m), ("topk", lambda a: a.topk(10), x), ("index_select", lambda a, i: a.index_select(0, i), x, i),
        ("gather", lambda a, i: a.gather(0, i), x, i), ("scatter_add", lambda a, i, k: torch.zeros(1000, device=a.device).scatter_add(0, k, a), x, i, k), ("masked_select", lambda a: a[a > 0], x),
        ("nonzero", lambda a: (a > 0).nonzero(), x), ("unique", torch.unique, k), ("embedding", F.embedding, k[:8192], torch.randn(1000, 128)), ("dropout", lambda a: F.dropout(a, 0.5), x), ("randn", torch.randn_like, x),
        ("cross_entropy", F.cross_entropy, m, k[:1024]), ("cat", lambda a, b: torch.cat([a, b]), x, y), ("matmul", torch.matmul, m, m), ("bmm", torch.bmm, m.view(16, 64, 1024), m.view(16, 1024, 64)),
        ("conv2d", lambda a, k: F.conv2d(a, k, padding=1), image, kernel), ("max_pool2d", lambda a: F.max_pool2d(a, 2), image), ("interpolate", lambda a: F.interpolate(a, scale_factor=2, mode="bilinear"), image[:4]),
        ("fft", lambda a: torch.fft.rfft(a), m), ("attention", lambda q: F.scaled_dot_product_attention(q, q, q), m.view(2, 8, 1024, 64)),
    ):  # fmt: skip
        both(name, f, *args)


def small():
    """A tiny operation: the time of a call while many follow one another, and that of one with its wait."""
    x, on = torch.ones(8), torch.ones(8, device="cuda")

    def many(t):
        for _ in range(1000):
            torch.add(t, t)

    def kudzu():
        many(on)
        sync()

    if client.wants("add of 8 elements"):
        settle(kudzu)
        client.figure("add of 8 elements", least_of(kudzu) / 1000, least_of(lambda: many(x)) / 1000, group="a small operator")
    if client.wants("add of 8 elements, and its wait"):
        def waits():
            for _ in range(200):
                torch.add(on, on)
                sync()
        settle(waits)
        client.figure("add of 8 elements, and its wait", least_of(waits) / 200, least_of(lambda: many(x)) / 1000, group="a small operator")


def least_of(f, turns=7):
    times = []
    for _ in range(turns):
        begin = time.perf_counter()
        f()
        times.append(time.perf_counter() - begin)
    return min(times)


def trains():
    for name in torch_models.MODELS:
        if not client.wants(f"{name}, a step"):
            continue
        make, data, optimiser = torch_models.MODELS[name]
        torch.manual_seed(3)
        start = make()

        def stepper(device):
            model, (x, y) = copy.deepcopy(start).to(device), (t.to(device) for t in data())
            way = optimiser(model.parameters())

            def step():
                way.zero_grad()
                loss = torch_models.loss_of(model(x), y)
                loss.backward()
                way.step()
                loss.item()

            return step

        cpu, kudzu = stepper("cpu"), stepper("cuda")
        client.figure(f"{name}, a step", kudzu, cpu, group="training steps", turns=5)


def starts():
    """A process of its own, to the result of a first operation; the caches are warm after one that is not counted."""
    code = "import torch; torch.set_num_threads({n}); x = torch.ones(1000, device='{d}'); print((x + x).sum().item())"

    def start(device):
        subprocess.run([sys.executable, "-c", code.format(n=threads, d=device)], check=True, stdout=subprocess.DEVNULL)

    if client.wants("import and a first operation"):
        start("cuda")
        client.figure("import and a first operation", least_of(lambda: start("cuda"), 3), least_of(lambda: start("cpu"), 3), group="start")


for part in starts, small, operators, trains:
    part()
