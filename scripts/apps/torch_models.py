"""Models of client_torch_train.py and client_torch_speed.py, written out: ResNet-18, an encoder of BERT's size, a small GPT, an LSTM, a U-Net."""

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, of, to, stride):
        super().__init__()
        self.a, self.na = nn.Conv2d(of, to, 3, stride, 1, bias=False), nn.BatchNorm2d(to)
        self.b, self.nb = nn.Conv2d(to, to, 3, 1, 1, bias=False), nn.BatchNorm2d(to)
        self.short = nn.Sequential(nn.Conv2d(of, to, 1, stride, bias=False), nn.BatchNorm2d(to)) if stride > 1 or of != to else nn.Identity()

    def forward(self, x):
        return F.relu(self.short(x) + self.nb(self.b(F.relu(self.na(self.a(x))))))


class ResNet18(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.start = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        of, parts = 64, []
        for to, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            parts += [Residual(of, to, stride), Residual(to, to, 1)]
            of = to
        self.body, self.end = nn.Sequential(*parts), nn.Linear(512, classes)

    def forward(self, x):
        return self.end(self.body(self.start(x)).mean((2, 3)))


class Encoder(nn.Module):
    """The sizes of BERT base: 12 layers, width 768, 12 heads."""

    def __init__(self, words=1000, width=768, layers=12, heads=12, length=64):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(words, width), nn.Embedding(length, width), nn.LayerNorm(width)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True), layers, enable_nested_tensor=False)
        self.end = nn.Linear(width, words)

    def forward(self, x):
        return self.end(self.body(self.norm(self.words(x) + self.places(torch.arange(x.shape[1], device=x.device)))))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.n1, self.n2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, w))
        return x + self.mlp(self.n2(x))


class GPT(nn.Module):
    def __init__(self, words=256, width=128, layers=4, heads=4, length=64):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.body, self.norm, self.end = nn.Sequential(*(Block(width, heads) for _ in range(layers))), nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, x):
        return self.end(self.norm(self.body(self.words(x) + self.places(torch.arange(x.shape[1], device=x.device)))))


class Recurrent(nn.Module):
    def __init__(self, words=128, width=128):
        super().__init__()
        self.words, self.body, self.end = nn.Embedding(words, 64), nn.LSTM(64, width, 2, batch_first=True), nn.Linear(width, words)

    def forward(self, x):
        return self.end(self.body(self.words(x))[0])


class UNet(nn.Module):
    def __init__(self, classes=3, width=16):
        super().__init__()

        def pair(of, to):
            return nn.Sequential(nn.Conv2d(of, to, 3, padding=1), nn.GroupNorm(4, to), nn.SiLU(), nn.Conv2d(to, to, 3, padding=1), nn.GroupNorm(4, to), nn.SiLU())

        self.d1, self.d2, self.mid = pair(3, width), pair(width, 2 * width), pair(2 * width, 4 * width)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.u2, self.u1, self.end = pair(4 * width, 2 * width), pair(2 * width, width), nn.Conv2d(width, classes, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        y = self.up2(self.mid(F.max_pool2d(b, 2)))
        return self.end(self.u1(torch.cat([self.up1(self.u2(torch.cat([y, b], 1))), a], 1)))


def images(size, batch, classes=10, pixels=False):
    """A batch of images, each class with a pattern of its own, and its labels: of images, or of pixels."""
    g = torch.Generator().manual_seed(7)
    y = torch.randint(0, classes, (batch, size, size) if pixels else (batch,), generator=g)
    patterns = torch.randn(classes, 3, *(() if pixels else (size, size)), generator=g)
    x = patterns[y].movedim(-1, 1) if pixels else patterns[y]
    return x + 0.3 * torch.randn(x.shape, generator=g), y


def text(words, batch, length):
    """Sequences in which each word follows from the one before, and their next words."""
    g = torch.Generator().manual_seed(7)
    x = torch.randint(0, words, (batch, 1), generator=g)
    rows = [x]
    for _ in range(length):
        rows.append((rows[-1] * 5 + 3) % words)
    x = torch.cat(rows, 1)
    return x[:, :-1].contiguous(), x[:, 1:].contiguous()


# name: the model, its data, the optimiser
MODELS = {
    "ResNet-18": (ResNet18, lambda: images(64, 8), lambda p, **k: torch.optim.SGD(p, 0.01, momentum=0.9, **k)),
    "BERT-size encoder": (Encoder, lambda: text(1000, 1, 32), lambda p, **k: torch.optim.AdamW(p, 1e-4, **{"fused": True, **k})),
    "GPT": (GPT, lambda: text(256, 4, 64), lambda p, **k: torch.optim.AdamW(p, 1e-3, **k)),
    "LSTM": (Recurrent, lambda: text(128, 8, 32), lambda p, **k: torch.optim.Adam(p, 3e-3, **k)),
    "U-Net": (UNet, lambda: images(32, 4, 3, True), lambda p, **k: torch.optim.AdamW(p, 1e-3, **k)),
}


def loss_of(y, want):
    """Classes are in dimension 1 of images, and the last of text."""
    return F.cross_entropy(y.flatten(0, -2), want.flatten()) if y.dim() == 3 else F.cross_entropy(y, want)


def train(name, device, steps=20, nudge=0.0, seed=3):
    """The losses of a model's steps. nudge changes its first parameters by so much of each, at random."""
    torch.manual_seed(seed)
    make, data, optimiser = MODELS[name]
    model = make()
    if nudge:
        with torch.no_grad():
            for p in model.parameters():
                p.mul_(1 + nudge * (2 * torch.rand_like(p) - 1))
    model, (x, y) = model.to(device), (t.to(device) for t in data())
    way, losses = optimiser(model.parameters()), []
    for _ in range(steps):
        way.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        way.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu()
