"""bitsandbytes as its users call it, on Debian's PyTorch: layers, products and blocks against its own CPU path. Its optimisers have no
CPU path: those of 8 bits are compared with PyTorch's of 32 bits on the CPU, to the size of a step of their codes."""

from importlib import metadata

import bitsandbytes as bnb
import torch
import torch.nn.functional as F
from bitsandbytes import functional as B
from torch import nn

from rows import Client

client = Client("bitsandbytes", f"{metadata.version('bitsandbytes')}, PyTorch {torch.__version__.partition('+')[0]}", source="PyPI, Debian 13")
torch.set_num_threads(2)
g = torch.Generator().manual_seed(2)
x = torch.randn(256, 512, generator=g)
batch = torch.randn(16, 512, generator=g)
TYPES = {"f32": (torch.float32, 2e-6), "f16": (torch.float16, 1e-3), "bf16": (torch.bfloat16, 8e-3)}


def both(name, f, bound, group):
    """f takes a device and returns a tensor, or several."""
    client.case(name, lambda: f("cuda"), lambda: f("cpu"), bound, group=group)


def four(kind, dtype, block, nested):
    def run(device):
        q, state = B.quantize_4bit(x.to(device, dtype), blocksize=block, quant_type=kind, compress_statistics=nested)
        return B.dequantize_4bit(q, state).cpu()

    return run


for name, (dtype, bound) in TYPES.items():
    both(f"4 bits, nf4, {name}", four("nf4", dtype, 64, False), bound, "blocks")
# Not fp4 of 16 bits: values lie in the middle of two entries, and the paths take different ones. Of 131,072 values neither path's
# entry is farther than the nearest by more than 2e-8 of the block's maximum.
both("4 bits, fp4, f32", four("fp4", torch.float32, 64, False), 2e-6, "blocks")
both("4 bits, nf4, blocks of 128", four("nf4", torch.float32, 128, False), 2e-6, "blocks")
# Of the map with 256 entries the CPU path misses the nearest in 224 of 131,072 values, Kudzu in none: the bound is a step of the map.
both("4 bits, nf4, nested", four("nf4", torch.float32, 64, True), 1.6e-2, "blocks")


def eight(device):
    q, state = B.quantize_blockwise(x.to(device))
    return B.dequantize_blockwise(q, state).cpu()


both("8 bits, dynamic map", eight, 1.6e-2, "blocks")


def rows_of_eight(device):
    q, most, _ = B.int8_vectorwise_quant(x.to(device, torch.float16))
    return q.cpu(), most.cpu()


both("8 bits, by rows", rows_of_eight, 1, "blocks")  # of integers: the largest difference, in steps


def linear4(dtype, kind, nested):
    def run(device):
        layer = bnb.nn.Linear4bit(512, 256, compute_dtype=dtype, quant_type=kind, compress_statistics=nested)
        with torch.no_grad():
            layer.weight = bnb.nn.Params4bit(x.to(dtype).clone(), requires_grad=False, quant_type=kind, compress_statistics=nested)
            layer.bias.copy_(x[:, 0])
        layer, t = layer.to(device), batch.to(device, dtype).clone().requires_grad_()
        y = layer(t)
        y.float().square().mean().backward()
        one = layer(t[:1])  # a product with one row has a kernel of its own
        return y.detach().cpu(), t.grad.cpu(), one.detach().cpu()

    return run


for name, (dtype, bound) in TYPES.items():
    both(f"Linear4bit, nf4, {name}", linear4(dtype, "nf4", False), 4 * bound, "layers")
both("Linear4bit, fp4, f32", linear4(torch.float32, "fp4", False), 8e-6, "layers")
both("Linear4bit, nf4, nested, bf16", linear4(torch.bfloat16, "nf4", True), 4e-2, "layers")


def linear8(threshold):
    def run(device):
        layer = bnb.nn.Linear8bitLt(512, 256, has_fp16_weights=False, threshold=threshold)
        with torch.no_grad():
            layer.weight = bnb.nn.Int8Params(x.half().clone(), requires_grad=False, has_fp16_weights=False)
            layer.bias.copy_(x[:, 0])
        layer = layer.to(device)
        return layer(batch.to(device, torch.float16)).float().detach().cpu()

    return run


both("Linear8bitLt", linear8(0.0), 1e-2, "layers")
both("Linear8bitLt, outliers at 3", linear8(3.0), 1e-2, "layers")


def mlp(device):
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(512, 128), nn.GELU(), nn.Linear(128, 8)).to(device)


def losses(make, device):
    model, seen = mlp(device), []
    way = make(model.parameters())
    t, y = batch.to(device), (torch.arange(16) % 8).to(device)
    for _ in range(10):
        way.zero_grad()
        loss = F.cross_entropy(model(t), y)
        loss.backward()
        way.step()
        seen.append(loss.detach())
    return torch.stack(seen).cpu()


for name, make, plain, bound in [
    ("AdamW, 32 bits", lambda p: bnb.optim.AdamW32bit(p, lr=1e-3), lambda p: torch.optim.AdamW(p, 1e-3, weight_decay=1e-2), 1e-4),
    ("AdamW, 8 bits", lambda p: bnb.optim.AdamW8bit(p, lr=1e-3), lambda p: torch.optim.AdamW(p, 1e-3, weight_decay=1e-2), 5e-2),
    ("AdamW, 8 bits, paged", lambda p: bnb.optim.PagedAdamW8bit(p, lr=1e-3), lambda p: torch.optim.AdamW(p, 1e-3, weight_decay=1e-2), 5e-2),
    ("SGD, 8 bits", lambda p: bnb.optim.SGD8bit(p, lr=1e-2, momentum=0.9), lambda p: torch.optim.SGD(p, 1e-2, momentum=0.9), 5e-2),
    ("RMSprop, 8 bits", lambda p: bnb.optim.RMSprop8bit(p, lr=1e-3), lambda p: torch.optim.RMSprop(p, 1e-3), 5e-2),
]:
    client.case(name, lambda: losses(make, "cuda"), lambda: losses(plain, "cpu"), bound, group="optimisers")
