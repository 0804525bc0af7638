"""PyTorch's modules on Kudzu's cuDNN against PyTorch on the CPU: each trains for three steps on both, from the same numbers.
scripts/apps/torch.sh OUT scripts/apps/cudnn_torch.py [WORD...]: only cases with a WORD in their name. A line for each case, with the
largest error of results, gradients and parameters, as a part of the largest number in the tensor; status 1 if one is above its bound,
or if PyTorch took another way than cuDNN where a case says that it must not. With TORCH_CUDNN_V8_API_DISABLED=1 PyTorch convolves
through the classic calls instead of graphs."""

import copy
import ctypes
import os
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
STEPS, bad, counts = 3, 0, {}


def calls(prof):
    """What PyTorch gave to cuDNN, by its own names."""
    return {e.key: e.count for e in prof.key_averages() if "cudnn" in e.key and "version" not in e.key}


def reason():
    """What cuDNN says of its last failure."""
    text = ctypes.create_string_buffer(500)
    ctypes.CDLL("libcudnn.so.9").cudnnGetLastErrorString(text, ctypes.c_size_t(500))
    return text.value.decode()


def flat(y):
    """The tensors of floats in what a module gives."""
    if isinstance(y, torch.Tensor):
        return [y] if y.is_floating_point() else []
    return [v for part in y for v in flat(part)]


def train(model, inputs, device, dtype):
    """Results, gradients of inputs and parameters of some steps."""
    model = copy.deepcopy(model).to(device, dtype)
    inputs = [x.detach().clone().to(device, dtype).requires_grad_() if x.is_floating_point() else x.to(device) for x in inputs]
    way = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9) if list(model.parameters()) else None
    seen = []
    for step in range(STEPS):
        for x in inputs:
            x.grad = None
        model.zero_grad()
        out = flat(model(*inputs))
        numbers = torch.Generator().manual_seed(step)
        loss = sum((y * torch.randn(y.shape, generator=numbers).to(device, dtype)).sum() / y.numel() for y in out)
        loss.backward()
        seen += [y.detach() for y in out] + [x.grad for x in inputs if x.requires_grad]
        seen += [p.grad.clone() for p in model.parameters() if p.grad is not None]
        if way:
            way.step()
    return [v.cpu().double() for v in seen + [p.detach() for p in model.parameters()] + [b for b in model.buffers()]]


def far(got, want):
    if got.shape != want.shape:
        return float("inf")
    if not want.numel():
        return 0.0
    e = float((got - want).abs().max() / want.abs().max().clamp(min=1e-30))
    return e if e == e else float("inf")


def case(name, make, *inputs, way="", bound=1e-5, dtype=torch.float32):
    """One module. The CPU computes in f32 at least, from what the type can hold."""
    global bad
    if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
        return
    torch.manual_seed(3)
    said = "right"
    try:
        model = make().to(dtype)
        inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
        want = train(model, inputs, "cpu", torch.promote_types(dtype, torch.float32))
        with torch.autograd.profiler.profile(use_kineto=False) as prof:
            got = train(model, inputs, "cuda", dtype)
        worst, took = max(far(g, w) for g, w in zip(got, want, strict=True)), calls(prof)
        for key, n in took.items():
            counts[key] = counts.get(key, 0) + n
        said = f"within {worst:.1e}" if worst <= bound else f"WRONG by {worst:.1e}"
        if way and not any(way in key for key in took):
            said = f"NOT ON cuDNN: {way} was not called, but {sorted(took)}; {said}"
    except Exception as e:
        said = f"FAILED: {type(e).__name__}: {str(e)[:300]}; {reason()}"
    bad |= not said.startswith("within")
    print(f"{name}: {said}", flush=True)


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, f):
        super().__init__()
        self.forward = f


class Packed(nn.Module):
    """An RNN on sequences of several lengths."""

    def __init__(self, rnn, lengths):
        super().__init__()
        self.rnn, self.lengths = rnn, lengths

    def forward(self, x):
        y, h = self.rnn(pack_padded_sequence(x, self.lengths, enforce_sorted=False))
        return pad_packed_sequence(y)[0], h


class CTC(nn.Module):
    """Labels and lengths on the host or on the device: cuDNN has a call for each."""

    def __init__(self, labels, lengths, device):
        super().__init__()
        self.labels, self.lengths, self.device = labels, lengths, device

    def forward(self, x):
        y, much = x.log_softmax(2), [x.shape[0]] * x.shape[1]
        if not (x.is_cuda and self.device):
            return F.ctc_loss(y, self.labels, much, self.lengths)
        return F.ctc_loss(y, self.labels.cuda(), *(torch.tensor(n, dtype=torch.int32, device="cuda") for n in (much, self.lengths)))


class Attention(nn.Module):
    """Through cuDNN on the GPU, by its definition on the CPU."""

    def __init__(self, **how):
        super().__init__()
        self.how = how

    def forward(self, q, k, v):
        if not q.is_cuda:
            return F.scaled_dot_product_attention(q, k, v, **self.how)
        with nn.attention.sdpa_kernel(nn.attention.SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(q, k, v, **self.how)


def affine(m):
    """PyTorch itself takes another way for it on GPUs, too."""
    return torch.cudnn_affine_grid_generator(m, 2, 3, 5, 6) if m.is_cuda else F.affine_grid(m, (2, 3, 5, 6), align_corners=True)


def r(*shape, numbers=torch.Generator().manual_seed(7)):
    return torch.randn(*shape, generator=numbers)


def last(x):
    """Channels last."""
    return x.contiguous(memory_format=torch.channels_last)


def convolutions():
    w = "cudnn_convolution"
    case("Conv1d, stride 2", lambda: nn.Conv1d(4, 6, 5, 2, 2), r(3, 4, 40), way=w)
    case("Conv2d", lambda: nn.Conv2d(5, 7, 3, padding=1), r(2, 5, 12, 11), way=w)
    case("Conv2d, 1x1", lambda: nn.Conv2d(16, 24, 1), r(2, 16, 9, 7), way=w)
    case("Conv2d, 7x7, stride 2", lambda: nn.Conv2d(3, 8, 7, 2, 3), r(2, 3, 21, 22), way=w)
    case("Conv2d, no bias, uneven padding", lambda: nn.Conv2d(5, 7, (3, 5), (2, 1), (0, 2), bias=False), r(2, 5, 12, 11), way=w)
    case("Conv2d, groups, dilation", lambda: nn.Conv2d(6, 9, 3, padding=2, dilation=2, groups=3), r(2, 6, 14, 13), way=w)
    case("Conv2d, depthwise", lambda: nn.Conv2d(8, 8, 5, padding=2, groups=8), r(2, 8, 12, 12))
    case("Conv2d, depthwise, bf16", lambda: nn.Conv2d(32, 32, 3, padding=1, groups=32), r(32, 32, 14, 14), bound=2e-2, dtype=torch.bfloat16)
    case("Conv2d, channels last", lambda: nn.Conv2d(16, 24, 3, padding=1).to(memory_format=torch.channels_last), last(r(2, 16, 12, 11)), way=w)
    case("Conv2d, f64", lambda: nn.Conv2d(5, 7, 3, padding=1), r(2, 5, 12, 11), way=w, bound=1e-12, dtype=torch.float64)
    case("Conv2d, f16", lambda: nn.Conv2d(8, 16, 3, padding=1), r(2, 8, 12, 11), way=w, bound=4e-3, dtype=torch.float16)
    case("Conv2d, bf16", lambda: nn.Conv2d(8, 16, 3, padding=1), r(2, 8, 12, 11), bound=2e-2, dtype=torch.bfloat16,
         way="" if os.environ.get("TORCH_CUDNN_V8_API_DISABLED") else w)
    case("Conv3d", lambda: nn.Conv3d(3, 4, 3, padding=1), r(1, 3, 6, 7, 8), way=w)
    case("Conv3d, groups, stride, dilation", lambda: nn.Conv3d(4, 6, 3, (1, 2, 1), 2, 2, groups=2), r(2, 4, 7, 8, 9), way=w)
    torch.backends.cudnn.benchmark = True
    case("Conv2d, algorithms measured", lambda: nn.Conv2d(5, 7, 3, padding=1), r(3, 5, 12, 11), way=w)
    case("Conv3d, algorithms measured", lambda: nn.Conv3d(3, 4, 3, padding=1), r(2, 3, 6, 7, 8), way=w)
    torch.backends.cudnn.benchmark = False
    w = "cudnn_convolution_transpose"
    case("ConvTranspose1d", lambda: nn.ConvTranspose1d(5, 4, 4, 3, 1, 2), r(2, 5, 17), way=w)
    case("ConvTranspose2d", lambda: nn.ConvTranspose2d(5, 4, 3, 2, 1, 1), r(2, 5, 9, 8), way=w)
    case("ConvTranspose2d, groups", lambda: nn.ConvTranspose2d(6, 8, 3, 2, 1, groups=2, dilation=2), r(2, 6, 9, 8), way=w)
    case("ConvTranspose3d", lambda: nn.ConvTranspose3d(3, 4, 3, 2, 1), r(1, 3, 4, 5, 6), way=w)


def norms():
    w = "cudnn_batch_norm"
    case("BatchNorm1d", lambda: nn.BatchNorm1d(6), r(16, 6))
    case("BatchNorm2d", lambda: nn.BatchNorm2d(6), r(4, 6, 9, 9), way=w)
    case("BatchNorm2d, channels last", lambda: nn.BatchNorm2d(8), last(r(4, 8, 9, 9)), way=w)
    case("BatchNorm2d, f16", lambda: nn.BatchNorm2d(8), r(4, 8, 9, 9), bound=1e-2, dtype=torch.float16)
    case("BatchNorm3d", lambda: nn.BatchNorm3d(4), r(3, 4, 5, 6, 7), way=w)
    case("LayerNorm", lambda: nn.LayerNorm(33), r(4, 7, 33))
    case("GroupNorm", lambda: nn.GroupNorm(3, 12), r(4, 12, 7, 8))
    case("InstanceNorm2d", lambda: nn.InstanceNorm2d(6, affine=True), r(3, 6, 9, 8), way=w)


def recurrent():
    w = "_cudnn_rnn"
    for name, kind in ("RNN", nn.RNN), ("GRU", nn.GRU), ("LSTM", nn.LSTM):
        case(f"{name}, two layers", lambda: kind(10, 16, 2), r(7, 3, 10), way=w)
        case(f"{name}, batch first", lambda: kind(10, 16, batch_first=True), r(3, 7, 10), way=w)
        case(f"{name}, bidirectional", lambda: kind(10, 16, 2, bidirectional=True), r(7, 3, 10), way=w)
        case(f"{name}, packed", lambda: Packed(kind(10, 16, 2), [4, 7, 1]), r(7, 3, 10), way=w)
        case(f"{name}, bidirectional, packed", lambda: Packed(kind(10, 16, bidirectional=True), [5, 2, 7, 7]), r(7, 4, 10), way=w)
    case("RNN, ReLU", lambda: nn.RNN(10, 16, 2, nonlinearity="relu"), r(7, 3, 10), way=w)
    case("LSTM, projection", lambda: nn.LSTM(10, 16, 2, proj_size=5), r(7, 3, 10), way=w)
    case("LSTM, no bias", lambda: nn.LSTM(10, 16, 2, bias=False), r(7, 3, 10), way=w)
    case("LSTM, f64", lambda: nn.LSTM(10, 16, 2), r(7, 3, 10), way=w, bound=1e-12, dtype=torch.float64)
    case("LSTM, f16", lambda: nn.LSTM(10, 16, 2), r(7, 3, 10), way=w, bound=1e-2, dtype=torch.float16)


def others():
    labels, lengths = torch.randint(1, 20, (29,), generator=torch.Generator().manual_seed(1), dtype=torch.int32), [8, 7, 6, 8]
    case("CTCLoss, labels on the host", lambda: CTC(labels, lengths, False), r(30, 4, 20), way="_cudnn_ctc_loss", bound=5e-5)
    case("CTCLoss, labels on the device", lambda: CTC(labels, lengths, True), r(30, 4, 20), way="_cudnn_ctc_loss", bound=5e-5)
    half = dict(bound=2e-2, dtype=torch.bfloat16, way="cudnn_attention")
    case("attention", Attention, r(2, 4, 64, 64), r(2, 4, 64, 64) + 1, r(2, 4, 64, 64) * 2, **half)
    case("attention, causal", lambda: Attention(is_causal=True), r(2, 4, 128, 64), r(2, 4, 128, 64), r(2, 4, 128, 64) + 1, **half)
    case("attention, two lengths", Attention, r(2, 3, 40, 32), r(2, 3, 72, 32), r(2, 3, 72, 32) + 1, **half)
    case("MaxPool2d", lambda: nn.MaxPool2d(3, 2, 1), r(2, 3, 11, 12))
    case("AvgPool2d", lambda: nn.AvgPool2d(3, 2, 1), r(2, 3, 11, 12))
    case("AdaptiveAvgPool2d", lambda: nn.AdaptiveAvgPool2d(3), r(2, 3, 11, 12))
    case("Softmax", lambda: nn.Softmax(1), r(3, 21, 5))
    case("LogSoftmax", lambda: nn.LogSoftmax(-1), r(3, 5, 21))
    grid = torch.rand(2, 5, 6, 2, generator=torch.Generator().manual_seed(2)) * 2 - 1
    case("grid_sample", lambda: Call(lambda x, g: F.grid_sample(x, g, align_corners=True)), r(2, 3, 7, 8), grid, way="cudnn_grid_sampler", bound=1e-4)
    case("affine_grid", lambda: Call(affine), r(2, 2, 3), way="cudnn_affine_grid")


def nets():
    def cnn():
        return nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False),
            nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 1), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1152, 10), nn.LogSoftmax(1))

    case("a convolutional net, f64", cnn, r(8, 3, 24, 24), way="cudnn_convolution", bound=1e-10, dtype=torch.float64)
    case("a convolutional net", cnn, r(8, 3, 24, 24), way="cudnn_convolution", bound=1e-2)  # its errors grow ten-thousandfold, in f64 too
    case("a transformer's layer", lambda: nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True), r(3, 20, 32), bound=1e-4)


def main():
    print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}", flush=True)
    assert torch.backends.cudnn.is_available() and torch.backends.cudnn.is_acceptable(torch.zeros(1, device="cuda"))
    for part in convolutions, norms, recurrent, others, nets:
        part()
    with open("/proc/self/maps") as maps:
        print("libraries:", sorted({line.split()[-1] for line in maps if "libcudnn" in line}))
    print("calls:", ", ".join(f"{n} {key}" for key, n in sorted(counts.items())))
    sys.exit(bad)


main()
