"""torch.distributed on Kudzu's NCCL: collectives of 2 and 4 processes against plain arithmetic, and training of a small model in them
against one process with the whole batch. `kudzu run PYTHON scripts/apps/nccl_torch.py [RANKS...]`; a line for each case, status 1 if one is wrong.

PyPI's builds of PyTorch bring machine code only. With those nothing here needs a kernel of theirs: layers are products (cuBLAS), the loss
and the steps of the optimizer are the CPU's. With a build that has PTX (Debian's) one more case trains with all of it on the device."""

import inspect
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

N = 3001  # elements


def data(rank, n=N, dtype=torch.float32):
    return (torch.arange(n) % 17 + rank * 3).to(dtype)


def same(got, want, what):
    got = got.cpu()
    if got.dtype != want.dtype or not torch.equal(got, want):
        raise AssertionError(f"{what}: {got[:4]} …, not {want[:4]} …")


def reductions(rank, n):
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8):
        parts = [data(r, dtype=dtype) for r in range(n)]
        for op, want in ((dist.ReduceOp.SUM, sum(parts[1:], parts[0])), (dist.ReduceOp.MAX, torch.stack(parts).amax(0)), (dist.ReduceOp.MIN, torch.stack(parts).amin(0))):
            x = parts[rank].cuda()
            dist.all_reduce(x, op)
            same(x, want, f"all_reduce {op} {dtype}")
    x = data(rank).cuda()
    dist.all_reduce(x, dist.ReduceOp.AVG)
    same(x, sum(data(r) for r in range(n)) / n, "all_reduce AVG")
    x = data(rank).cuda()
    dist.reduce(x, 1)
    if rank == 1:
        same(x, sum(data(r) for r in range(n)), "reduce")
    out = torch.empty(N).cuda()
    dist.reduce_scatter_tensor(out, torch.cat([data(rank) + r for r in range(n)]).cuda())
    same(out, sum(data(r) + rank for r in range(n)), "reduce_scatter_tensor")


def moves(rank, n):
    x = data(rank).cuda()
    dist.broadcast(x, n - 1)
    same(x, data(n - 1), "broadcast")
    out = torch.empty(n * N).cuda()
    dist.all_gather_into_tensor(out, data(rank).cuda())
    same(out, torch.cat([data(r) for r in range(n)]), "all_gather_into_tensor")
    parts = [torch.empty(N).cuda() for _ in range(n)]
    dist.all_gather(parts, data(rank).cuda())
    for r, p in enumerate(parts):
        same(p, data(r), "all_gather")
    out = torch.empty(n * N).cuda()
    dist.all_to_all_single(out, torch.cat([data(rank) + r for r in range(n)]).cuda())
    same(out, torch.cat([data(r) + rank for r in range(n)]), "all_to_all_single")
    dist.all_to_all(parts, [(data(rank) + r).cuda() for r in range(n)])
    for r, p in enumerate(parts):
        same(p, data(r) + rank, "all_to_all")
    got = [torch.empty(N).cuda() for _ in range(n)] if rank == 0 else None
    dist.gather(data(rank).cuda(), got, 0)
    for r, p in enumerate(got or []):
        same(p, data(r), "gather")
    x = torch.empty(N).cuda()
    dist.scatter(x, [data(r).cuda() for r in range(n)] if rank == 0 else None, 0)
    same(x, data(rank), "scatter")
    dist.barrier()


def pairs(rank, n):
    right, left = (rank + 1) % n, (rank - 1) % n
    out, x = torch.empty(N).cuda(), data(rank).cuda()
    for w in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, right), dist.P2POp(dist.irecv, out, left)]):
        w.wait()
    same(out, data(left), "batch_isend_irecv")
    half = dist.new_group(list(range(n // 2)))
    if rank < n // 2:
        x = data(rank).cuda()
        dist.all_reduce(x, group=half)
        same(x, sum(data(r) for r in range(n // 2)), "all_reduce of a group")
    dist.barrier()


def model():
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(24, 48, bias=False), nn.Linear(48, 8, bias=False))


def batches(steps, size):
    g = torch.Generator().manual_seed(7)
    return [(torch.randn(size, 24, generator=g), torch.randn(size, 8, generator=g)) for _ in range(steps)]


def train(m, device, share, average):
    """The losses of each step. share cuts a batch, average makes a loss one of all ranks."""
    losses = []
    for x, y in batches(6, 32):
        x, y = share(x), share(y)
        out = m(x.to(device))
        host = out.detach().cpu().requires_grad_()
        loss = nn.functional.mse_loss(host, y)
        loss.backward()
        out.backward(host.grad.to(device))
        for p in m.parameters():
            p.data.copy_((p.data.cpu() - 0.1 * p.grad.cpu()).to(device))
            p.grad = None
        losses.append(average(loss.detach()))
    return losses


def agree(got, want):
    far = max(abs(a - b) / abs(b) for a, b in zip(got, want, strict=True))
    if far > 2e-6 or not want[-1] < want[0]:
        raise AssertionError(f"losses {got}, not {want}")


def mean_of(loss):
    x = loss.detach().reshape(1).cuda()
    dist.all_reduce(x, dist.ReduceOp.AVG)
    return x.item()


def kernels():
    """Whether this build's own kernels run."""
    try:
        return (torch.ones(2, device="cuda") + 1).tolist() == [2, 2]
    except RuntimeError:
        return False


def ddp(rank, n):
    """DistributedDataParallel with a hook of our own, which needs no kernel."""
    mean = lambda _, bucket: dist.all_reduce(bucket.buffer(), dist.ReduceOp.AVG, async_op=True).get_future().then(lambda f: f.value()[0])
    quiet = {"init_sync": False} if "init_sync" in inspect.signature(DistributedDataParallel).parameters else {}
    m = DistributedDataParallel(model().cuda(), device_ids=[0], **quiet)
    m.register_comm_hook(None, mean)
    got = train(m, "cuda", lambda a: a.chunk(n)[rank], mean_of)
    agree(got, train(model(), "cpu", lambda a: a, lambda loss: loss.item()))


def deep():
    torch.manual_seed(6)
    return nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.LayerNorm(48), nn.Linear(48, 8))


def steps(m, device, share, average):
    """As train, with the loss and Adam on the device."""
    adam, losses = torch.optim.Adam(m.parameters(), lr=0.01), []
    for x, y in batches(6, 32):
        loss = nn.functional.mse_loss(m(share(x).to(device)), share(y).to(device))
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(average(loss))
    return losses


def ddp_whole(rank, n):
    """DistributedDataParallel as programs use it, where the build's kernels run."""
    got = steps(DistributedDataParallel(deep().cuda(), device_ids=[0]), "cuda", lambda a: a.chunk(n)[rank], mean_of)
    agree(got, steps(deep(), "cpu", lambda a: a, lambda loss: loss.item()))


CASES = (reductions, moves, pairs, ddp)


def part(rank, n, meet):
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", init_method=f"file://{meet}", rank=rank, world_size=n, device_id=torch.device("cuda:0"))
    for f in CASES + (ddp_whole,) * kernels():
        try:
            f(rank, n)
            why = ""
        except Exception as e:  # the others may wait for this rank: it ends
            why = f"{type(e).__name__}: {e}"
        if rank == 0 or why:
            print(f"{n} processes, {f.__name__}: {why or 'right'}", flush=True)
        if why:
            os._exit(1)
    dist.destroy_process_group()


if __name__ == "__main__":
    for n in map(int, sys.argv[1:] or ("2", "4")):
        with tempfile.TemporaryDirectory() as d:
            mp.spawn(part, (n, os.path.join(d, "meet")), n)
