"""torch.compile on Kudzu, against the same model on the CPU, not compiled.

PyPI's builds of PyTorch have machine code only for their own kernels: every operation here is one that Inductor writes as a kernel of
Triton's, or that it hands to cuBLAS or cuDNN. Tensors are only copied to and from the device."""

import copy

import torch
import torch._inductor.config
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention.flex_attention import flex_attention

from rows import Client

client = Client("torch.compile", torch.__version__)
torch.manual_seed(3)
torch.set_num_threads(1)
torch._inductor.config.joint_graph_constant_folding = False  # it would run PyTorch's own kernels on the device


def host(got):
    return tuple(t.cpu() for t in got) if isinstance(got, tuple) else got.cpu()


def forward(name, f, bound, *args):
    """A function or a model, forwards."""
    on = copy.deepcopy(f).to("cuda").eval() if isinstance(f, nn.Module) else f
    compiled, device = torch.compile(on), [a.to("cuda") for a in args]

    def run():
        with torch.no_grad():
            return host(compiled(*device))

    def want():
        with torch.no_grad():
            return (f.eval() if isinstance(f, nn.Module) else f)(*args)

    client.case(name, run, want, bound)


def backward(name, model, bound, x):
    """A model, forwards and backwards: its result and the gradients of its parameters."""
    with torch.no_grad():
        gradient = torch.randn_like(model(x))
    on = copy.deepcopy(model).to("cuda")
    compiled, dx, dg = torch.compile(on), x.to("cuda"), gradient.to("cuda")

    def step(call, of, x, gradient):
        for p in of.parameters():
            p.grad = None
        y = call(x)
        y.backward(gradient)
        return (y.detach(), *(p.grad for p in of.parameters()))

    client.case(name, lambda: host(step(compiled, on, dx, dg)), lambda: step(model, model, x, gradient), bound)


def optimizer(name, bound):
    """Three steps of AdamW."""
    start = nn.Linear(64, 64)
    gradients = [torch.randn_like(p) for p in start.parameters()]

    def steps(device, wrap):
        model = copy.deepcopy(start).to(device)
        adam = torch.optim.AdamW(model.parameters())
        for p, g in zip(model.parameters(), gradients):
            p.grad = g.to(device)
        step = wrap(adam.step)
        for _ in range(3):
            step()
        return tuple(p.detach().cpu() for p in model.parameters())

    client.case(name, lambda: steps("cuda", torch.compile), lambda: steps("cpu", lambda f: f), bound)


class Block(nn.Module):
    """A layer of a transformer, its attention written out."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.n1, self.n2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        p = (q @ k.transpose(2, 3) * (w // self.heads) ** -0.5).softmax(3)
        x = x + self.out((p @ v).transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.n2(x))))


def mlp():
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 16))


def cnn():
    return nn.Sequential(nn.Conv2d(4, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(),
                         nn.AvgPool2d(2), nn.Flatten(), nn.Linear(32 * 9, 16))  # fmt: skip


def alibi(score, b, h, q, k):
    return score + (k - q) * 0.1


x, m = torch.randn(1 << 18), torch.randn(128, 1000)
at = torch.randint(0, 128, (500,))
q, k, v = (torch.randn(2, 4, 128, 32) for _ in range(3))
forward("elementwise", lambda x: torch.where(x > 0, x.sin() * torch.exp(-x * x), F.gelu(x) + x.tanh()), 2e-6, x)
forward("softmax, layer norm", lambda x: F.layer_norm(x.softmax(1), (1000,)), 2e-6, m)
forward("reductions", lambda x: (x.sum(1), x.var(1), x.amax(0), x.argmax(1)), 2e-6, m)
forward("MLP", mlp(), 2e-6, torch.randn(32, 64))
forward("MLP, bf16", mlp().bfloat16(), 2e-2, torch.randn(32, 64).bfloat16())
backward("MLP, backwards", mlp(), 5e-6, torch.randn(32, 64))
forward("CNN", cnn(), 2e-6, torch.randn(4, 4, 16, 16))
backward("CNN, backwards", cnn(), 2e-5, torch.randn(4, 4, 16, 16))
forward("transformer layer", Block(), 2e-6, torch.randn(2, 32, 64))
backward("transformer layer, backwards", Block(), 5e-6, torch.randn(2, 32, 64))
optimizer("AdamW", 2e-6)
forward("sort", lambda x: x[:, :200].sort(1).values, 0, m)
forward("cumsum", lambda x: x.cumsum(1), 2e-6, m)
forward("index_add", lambda x, at: x.index_add(0, at, x[at % 7] * 2), 2e-6, m, at)
forward("flex_attention", lambda q, k, v: flex_attention(q, k, v, score_mod=alibi), 2e-6, q, k, v)
