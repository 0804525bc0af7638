"""PyTorch trains on Kudzu: five models for 20 steps, optimisers, mixed precision, CUDA graphs, streams, pinned loaders, processes, data parallel.

Each is compared with the same on the CPU. The error of a model is the largest difference of a loss from the CPU's, as a part of the
largest loss. Bounds of models: training makes rounding errors grow, on any device. The row's note has how far the CPU's own losses
move when each first parameter is changed by up to one unit in its last place (6e-8 of it); the bound is ten times that, but not below
2e-6, which is what losses of the same parameters differ by."""

import copy
import os
import tempfile
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # the CPU path's threads leave the processors to others while they wait
import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import torch_models
from rows import Client


def data(steps, batch=32, seed=7):
    g = torch.Generator().manual_seed(seed)
    return [(torch.randn(batch, 24, generator=g), torch.randint(0, 8, (batch,), generator=g)) for _ in range(steps)]


def mlp():
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 8))


def fit(way, device, steps=5, **how):
    """The losses and the parameters after some steps of an optimiser."""
    model, losses = mlp().to(device), []
    o = way(model.parameters(), **how)
    for x, y in data(steps):
        x, y = x.to(device), y.to(device)

        def closure():
            o.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        losses.append(o.step(closure).detach())
    return (torch.stack(losses).cpu(), *(p.detach().cpu() for p in model.parameters()))


def models(client):
    for name in torch_models.MODELS:
        case = f"{name}, 20 steps"
        if not client.wants(case):
            continue
        begin = time.perf_counter()
        want = torch_models.train(name, "cpu")
        took = time.perf_counter() - begin
        if not want[-1] < want[0]:
            raise ValueError(f"the CPU learns nothing: {want}")
        noise = float((want - torch_models.train(name, "cpu", nudge=6e-8)).abs().max() / want.abs().max())
        client.row.update(note=f"the CPU's losses move by {noise:.1e}", cpu_s=took)
        client.case(case, lambda: torch_models.train(name, "cuda"), want, max(10 * noise, 2e-6), group="models")
        del client.row["note"], client.row["cpu_s"]


def optimisers(client):
    o = torch.optim
    table = {
        "SGD": (o.SGD, dict(lr=0.1)), "SGD, momentum, nesterov": (o.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3)),
        "SGD, foreach": (o.SGD, dict(lr=0.1, momentum=0.9, foreach=True)), "SGD, fused": (o.SGD, dict(lr=0.1, momentum=0.9, fused=True)),
        "Adam": (o.Adam, dict(lr=1e-2)), "Adam, amsgrad": (o.Adam, dict(lr=1e-2, amsgrad=True)), "Adam, fused": (o.Adam, dict(lr=1e-2, fused=True)),
        "Adam, capturable": (o.Adam, dict(lr=1e-2, capturable=True)), "AdamW": (o.AdamW, dict(lr=1e-2, foreach=False)), "AdamW, foreach": (o.AdamW, dict(lr=1e-2, foreach=True)),
        "AdamW, fused": (o.AdamW, dict(lr=1e-2, fused=True)), "RMSprop": (o.RMSprop, dict(lr=1e-2)), "RMSprop, centered": (o.RMSprop, dict(lr=1e-3, centered=True, momentum=0.5)),
        "Adagrad": (o.Adagrad, dict(lr=1e-2)), "Adadelta": (o.Adadelta, {}), "Adamax": (o.Adamax, {}), "NAdam": (o.NAdam, {}), "RAdam": (o.RAdam, dict(lr=1e-2)), "ASGD": (o.ASGD, {}),
        "Rprop": (o.Rprop, dict(lr=1e-3)), "Adafactor": (o.Adafactor, {}), "LBFGS": (o.LBFGS, dict(lr=0.5, max_iter=4)),
    }  # fmt: skip
    for name, (way, how) in table.items():
        plain = {k: v for k, v in how.items() if k not in ("fused", "foreach", "capturable")}
        # Adam and its kin divide by the root of a mean of squares: where a gradient is nearly 0, its noise decides the step's sign.
        # RMSprop's first step is ten times lr.
        bound = 2e-2 if name.startswith(("Rprop", "RMSprop", "LBFGS")) else 5e-4
        client.case(name, lambda: fit(way, "cuda", **how), lambda: fit(way, "cpu", **plain), bound, group="optimisers")

    def schedule(device):
        model = mlp().to(device)
        opt = o.AdamW(model.parameters(), 1e-2)
        plan = o.lr_scheduler.SequentialLR(opt, [o.lr_scheduler.LinearLR(opt, 0.1, 1, 2), o.lr_scheduler.CosineAnnealingLR(opt, 4)], [2])
        losses = []
        for x, y in data(6):
            opt.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()
            plan.step()
            losses.append(loss.detach())
        return torch.stack(losses).cpu()

    client.case("schedules, clip_grad_norm_", lambda: schedule("cuda"), lambda: schedule("cpu"), 2e-4, group="optimisers")


def mixed(client):
    def amp(device, dtype, scale):
        torch.manual_seed(5)
        model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 64, 10)).to(device)
        opt, scaler, losses = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9), torch.amp.GradScaler(device, enabled=scale), []
        x, y = (t.to(device) for t in torch_models.images(8, 32))
        for _ in range(10):
            opt.zero_grad()
            with torch.autocast(device, dtype=dtype or torch.float16, enabled=dtype is not None):
                loss = F.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(opt)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
            losses.append(loss.detach().float())
        return torch.stack(losses).cpu()

    # f16 and bf16 round to 2^-11 and 2^-8; the CPU trains in f32
    client.case("autocast f16, GradScaler", lambda: amp("cuda", torch.float16, True), lambda: amp("cpu", None, False), 1e-2, group="mixed precision")
    client.case("autocast bf16", lambda: amp("cuda", torch.bfloat16, False), lambda: amp("cpu", None, False), 5e-2, group="mixed precision")

    def overflow(device):
        model = nn.Linear(4, 4).to(device)
        start, scaler, opt = model.weight.detach().clone(), torch.amp.GradScaler("cuda"), torch.optim.SGD(model.parameters(), 1.0)
        scaler.scale(model(torch.full((2, 4), 1e38, device=device)).sum() * 1e5).backward()
        scaler.step(opt)
        before = scaler.get_scale()
        scaler.update()
        return torch.stack([(model.weight == start).all().cpu(), torch.tensor(scaler.get_scale() == before / 2)]).int()

    client.case("GradScaler passes over inf", lambda: overflow("cuda"), np.array([1, 1]), 0, group="mixed precision")
    for dtype in torch.float16, torch.bfloat16:
        def gpt(device, dtype):
            torch.manual_seed(3)
            model, (x, y) = torch_models.GPT(layers=2).to(device), (t.to(device) for t in torch_models.text(256, 2, 32))
            opt, losses = torch.optim.AdamW(model.parameters(), 1e-3), []
            for _ in range(5):
                opt.zero_grad()
                with torch.autocast(device, dtype=dtype, enabled=device == "cuda"):
                    loss = torch_models.loss_of(model(x), y)
                loss.backward()
                opt.step()
                losses.append(loss.detach().float())
            return torch.stack(losses).cpu()
        client.case(f"GPT, autocast {str(dtype)[6:]}", lambda: gpt("cuda", dtype), lambda: gpt("cpu", dtype), 1e-2, group="mixed precision")


def steps(model, opt, batches, device):
    losses = []
    for x, y in batches:
        opt.zero_grad()
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        opt.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu()


def graphs(client):
    def graph():
        model = mlp().cuda()
        opt = torch.optim.SGD(model.parameters(), 0.1)
        x, y = torch.zeros(32, 24, device="cuda"), torch.zeros(32, dtype=torch.int64, device="cuda")
        first = copy.deepcopy(model.state_dict())
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                opt.zero_grad()
                F.cross_entropy(model(x), y).backward()
                opt.step()
        torch.cuda.current_stream().wait_stream(side)
        g = torch.cuda.CUDAGraph()
        opt.zero_grad()
        with torch.cuda.graph(g):
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
        model.load_state_dict(first)
        losses = []
        for a, b in data(6):
            x.copy_(a)
            y.copy_(b)
            g.replay()
            losses.append(loss.detach().clone())
        return torch.stack(losses).cpu()

    def plain():
        model = mlp()
        return steps(model, torch.optim.SGD(model.parameters(), 0.1), data(6), "cpu")

    client.case("CUDA graph of a whole step", graph, plain, 2e-5, group="graphs and streams")

    def callables():
        model = torch.cuda.make_graphed_callables(mlp().cuda(), (torch.randn(32, 24, device="cuda", requires_grad=False),))
        return steps(model, torch.optim.SGD(model.parameters(), 0.1), data(6), "cuda")

    client.case("make_graphed_callables", callables, plain, 2e-5, group="graphs and streams")

    def random_graph():
        x, g = torch.empty(1 << 16, device="cuda"), torch.cuda.CUDAGraph()
        torch.cuda.manual_seed(3)
        with torch.cuda.graph(g):
            x.copy_(torch.rand_like(x))
        seen = []
        for _ in range(2):
            g.replay()
            seen.append(x.clone())
        return torch.stack([(seen[0] == seen[1]).float().mean() < 0.01, (seen[0].mean() - 0.5).abs() < 0.01, (seen[1].mean() - 0.5).abs() < 0.01]).int().cpu()

    client.case("random numbers in a CUDA graph", random_graph, np.ones(3, int), 0, group="graphs and streams")

    def streams():
        g = torch.Generator().manual_seed(4)
        a = torch.randn(300, 300, generator=g).pin_memory()
        lanes, ends, out = [torch.cuda.Stream() for _ in range(3)], [], []
        begin = torch.cuda.Event(enable_timing=True)
        begin.record()
        for i, s in enumerate(lanes):
            with torch.cuda.stream(s):
                x = a.to("cuda", non_blocking=True)
                for _ in range(3):
                    x = (x @ x / 17 + i).tanh()
                end = torch.cuda.Event(enable_timing=True)
                end.record()
                ends.append(end)
                out.append(x)
        last = torch.cuda.current_stream()
        for e in ends:
            last.wait_event(e)
        y = sum(out)
        torch.cuda.synchronize()
        if not all(e.query() for e in ends) or begin.elapsed_time(ends[-1]) <= 0:
            raise ValueError("the events say that nothing happened")
        return y.cpu()

    def same():
        a, out = torch.randn(300, 300, generator=torch.Generator().manual_seed(4)), []
        for i in range(3):
            x = a
            for _ in range(3):
                x = (x @ x / 17 + i).tanh()
            out.append(x)
        return sum(out)

    client.case("streams, events, pinned copies", streams, same, 1e-3, group="graphs and streams")


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return torch.randn(24, generator=g), i % 8


def loaders(client):
    def load(device, **how):
        model, losses = mlp().to(device), []
        opt = torch.optim.SGD(model.parameters(), 0.1)
        for x, y in torch.utils.data.DataLoader(Rows(), 16, **how):
            if how.get("pin_memory") and not x.is_pinned():
                raise ValueError("the batch is not pinned")
            opt.zero_grad()
            loss = F.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
            loss.backward()
            opt.step()
            losses.append(loss.detach())
        return torch.stack(losses).cpu()

    for start in "fork", "spawn":
        client.case(f"pinned DataLoader, two workers by {start}", lambda: load("cuda", pin_memory=True, num_workers=2, multiprocessing_context=start), lambda: load("cpu"), 2e-5, group="processes")


def child(queue, back, ipc, done):
    x = queue.get()
    y = (x * 2 + 1).sum().item()
    x.add_(1)
    torch.cuda.synchronize()
    back.put(y)
    e = torch.cuda.Event.from_ipc_handle(0, ipc)
    e.synchronize()
    done.wait()


def processes(client):
    def share():
        c = mp.get_context("spawn")
        queue, back, done = c.SimpleQueue(), c.SimpleQueue(), c.Event()
        e = torch.cuda.Event(interprocess=True)
        x = torch.arange(5000.0, device="cuda")
        e.record()
        torch.cuda.synchronize()
        p = c.Process(target=child, args=(queue, back, e.ipc_handle(), done))
        p.start()
        queue.put(x)
        y = back.get()
        got = x.cpu()
        done.set()
        p.join(60)
        if p.exitcode != 0:
            raise RuntimeError(f"the child ended with {p.exitcode}")
        return torch.tensor([y], dtype=torch.float64), got

    client.case("a tensor shared by CUDA IPC with a spawned process", share, lambda: (torch.tensor([(torch.arange(5000.0) * 2 + 1).sum().item()], dtype=torch.float64), torch.arange(5000.0) + 1), 0, group="processes")


def rank(r, n, meet, out):
    torch.set_num_threads(1)
    torch.cuda.set_device(r)
    dist.init_process_group("nccl", init_method=f"file://{meet}", rank=r, world_size=n, device_id=torch.device("cuda", r))
    model = DistributedDataParallel(mlp().cuda(), device_ids=[r])
    opt, losses = torch.optim.AdamW(model.parameters(), 1e-3), []
    for x, y in data(6):
        opt.zero_grad()
        loss = F.cross_entropy(model(x.chunk(n)[r].cuda()), y.chunk(n)[r].cuda())
        loss.backward()
        opt.step()
        loss = loss.detach()
        dist.all_reduce(loss, dist.ReduceOp.AVG)
        losses.append(loss)
    if r == 0:
        torch.save(torch.stack(losses).cpu(), out)
    dist.barrier()
    dist.destroy_process_group()


def parallel(client):
    def ddp():
        if torch.cuda.device_count() < 2:
            raise RuntimeError("KUDZU_DEVICES=2 makes two devices")
        with tempfile.TemporaryDirectory() as d:
            mp.spawn(rank, (2, os.path.join(d, "meet"), os.path.join(d, "out")), 2)
            return torch.load(os.path.join(d, "out"))

    def whole():
        model = mlp()
        return steps(model, torch.optim.AdamW(model.parameters(), 1e-3), data(6), "cpu")

    client.case("DistributedDataParallel, two devices, NCCL", ddp, whole, 2e-5, group="processes")

    def replicas():
        model = nn.DataParallel(mlp().cuda(), [0, 1])
        return steps(model, torch.optim.AdamW(model.parameters(), 1e-3), data(6), "cuda")

    client.case("DataParallel, two devices", replicas, whole, 2e-5, group="processes")

    def peers():
        x = torch.arange(100000.0, device="cuda:0")
        y = x.to("cuda:1") * 2
        return (x + y.to("cuda:0")).cpu()

    client.case("copies between two devices", peers, lambda: torch.arange(100000.0) * 3, 0, group="processes")


def rest(client):
    g = torch.Generator().manual_seed(4)
    x = torch.randn(40, 24, generator=g)

    def functional(device):
        from torch.func import functional_call, grad, hessian, jacrev, jvp, vmap

        model, t = mlp().to(device), x.to(device)
        p = dict(model.named_parameters())
        one = lambda p, v: functional_call(model, p, (v[None],)).square().sum()
        each = vmap(grad(one), (None, 0))(p, t)
        f = lambda v: functional_call(model, p, (v[None],))[0]
        return tuple(v.detach().cpu() for v in (*each.values(), vmap(jacrev(f))(t), jvp(f, (t[0],), (t[1],))[1], hessian(lambda v: f(v).sum())(t[0])))

    client.case("torch.func: vmap, grad, jacrev, jvp, hessian", lambda: functional("cuda"), lambda: functional("cpu"), 5e-5, group="more")

    def script(device):
        model = torch.jit.script(mlp().to(device))
        traced = torch.jit.trace(mlp().to(device), x.to(device))
        return tuple(m(x.to(device)).detach().cpu() for m in (model, model, model, traced, traced))

    client.case("torch.jit.script and trace", lambda: script("cuda"), lambda: script("cpu"), 5e-6, group="more")

    def saved(device):
        from torch.utils.checkpoint import checkpoint

        model = mlp().to(device)
        with tempfile.TemporaryFile() as f:
            torch.save(model.state_dict(), f)
            f.seek(0)
            again = mlp().to(device)
            again.load_state_dict(torch.load(f, map_location=device))
        t = x.detach().clone().to(device).requires_grad_()
        checkpoint(again, t, use_reentrant=False).square().sum().backward()
        return t.grad.cpu()

    client.case("save, load, checkpoint", lambda: saved("cuda"), lambda: saved("cpu"), 2e-5, group="more")

    def hooked(device):
        seen, model = [], mlp().to(device)
        model[0].register_forward_hook(lambda m, i, o: seen.append(o.detach().mean()))
        model[3].register_full_backward_hook(lambda m, i, o: seen.append(o[0].detach().abs().sum()))
        with torch.autograd.detect_anomaly(check_nan=True):
            model(x.to(device)).sum().backward()
        return torch.stack(seen).cpu()

    client.case("hooks, anomaly detection", lambda: hooked("cuda"), lambda: hooked("cpu"), 2e-5, group="more")

    def memory():
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated()
        t = torch.ones(1 << 20, device="cuda")
        held = torch.cuda.memory_allocated() - before
        peak, (free, total) = torch.cuda.max_memory_allocated(), torch.cuda.mem_get_info()
        s = t.sum().item()
        del t
        return np.array([held, torch.cuda.memory_allocated() - before, int(peak >= held), int(0 < free <= total), int(s)])

    client.case("memory statistics", memory, np.array([1 << 22, 0, 1, 1, 1 << 20]), 0, group="more")

    def deterministic(device):
        torch.use_deterministic_algorithms(True)
        try:
            i = torch.arange(4000, device=device) % 7
            return torch.zeros(7, 24, device=device).index_add(0, i, x.to(device).repeat(100, 1)).cpu()
        finally:
            torch.use_deterministic_algorithms(False)

    client.case("use_deterministic_algorithms", lambda: deterministic("cuda"), lambda: deterministic("cpu"), 2e-5, group="more")


def compiled(client):
    import triton

    client.row["version"] += f", Triton {triton.__version__}"
    model = mlp()
    x = torch.randn(32, 24, generator=torch.Generator().manual_seed(4))

    def step(m, device):
        m.zero_grad()
        loss = m(x.to(device)).square().mean()
        loss.backward()
        return (loss.detach().cpu(), *(p.grad.cpu() for p in m.parameters()))

    on = torch.compile(copy.deepcopy(model).cuda())
    client.case("torch.compile: MLP, backwards", lambda: step(on, "cuda"), lambda: step(model, "cpu"), 2e-5, group="torch.compile")
    def f(x):
        return (x.softmax(1) * x.sin()).sum(0)

    client.case("torch.compile: softmax, sin, sum", lambda: torch.compile(f)(x.cuda()).cpu(), lambda: f(x), 2e-6, group="torch.compile")


def main():
    compiles = os.environ.get("CLIENT", "").endswith("@compile")
    client = Client("torch-compile" if compiles else "torch-train", torch.__version__, source="Debian 13")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.set_num_threads(2)
    for part in [compiled] if compiles else [optimisers, mixed, graphs, loaders, processes, parallel, rest, models]:
        part(client)


if __name__ == "__main__":
    main()
