"""Operators of client_torch_ops.py: matrix products, layers and losses, fft, linear algebra, sparse tensors, random numbers, lists of tensors."""

import torch
import torch.nn.functional as F

from torch_cases import BF16, BOOL, C64, C128, COMPLEX, F16, F32, F64, FLOATS, INTS, NUMBERS, WIDE, ints, op, rand


def products():
    g = "matrix products"
    T = FLOATS + COMPLEX
    r = lambda d, *s: rand(*s, dtype=d, low=-1, high=1)
    op(g, "mm", torch.mm, lambda d: [(r(d, 17, 33), r(d, 33, 9)), (r(d, 130, 70), r(d, 70, 90)), (r(d, 33, 17).t(), r(d, 9, 33).t()), (r(d, 1, 1), r(d, 1, 1)), (r(d, 0, 3), r(d, 3, 4)), (r(d, 3, 0), r(d, 0, 4))], T, 32, WIDE)
    op(g, "bmm", torch.bmm, lambda d: [(r(d, 5, 7, 8), r(d, 5, 8, 9)), (r(d, 3, 65, 33), r(d, 3, 40, 33).mT), (r(d, 0, 2, 3), r(d, 0, 3, 2))], T, 32, WIDE)
    op(g, "mv", torch.mv, lambda d: [(r(d, 50, 70), r(d, 70)), (r(d, 70, 50).t(), r(d, 70))], T, 32, WIDE)
    # Debian's PyTorch gives 0 for dot and vdot of complex numbers on the CPU
    dot = lambda a, b: [(a * b).sum(), (a.conj() * b).sum()] if a.is_complex() and not a.is_cuda else [torch.dot(a, b), torch.vdot(a, b)]
    op(g, "dot, vdot, inner", lambda a, b: [*dot(a, b), torch.inner(a, b)], lambda d: [(r(d, 900), r(d, 900)), (r(d, 1), r(d, 1))], T, 64, WIDE)
    op(g, "addmm", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), lambda d: [(r(d, 20, 30), r(d, 20, 40), r(d, 40, 30)), (r(d, 30), r(d, 20, 40), r(d, 40, 30))], T, 32, WIDE)
    op(g, "baddbmm, addbmm", lambda c, a, b: [torch.baddbmm(c, a, b, beta=0.5), torch.addbmm(c[0], a, b)], lambda d: [(r(d, 3, 20, 30), r(d, 3, 20, 40), r(d, 3, 40, 30))], T, 64, WIDE)
    op(g, "addmv, addr, outer", lambda c, a, b: [torch.addmv(a, c, b), torch.addr(c, a, b), torch.outer(a, b)], lambda d: [(r(d, 20, 30), r(d, 20), r(d, 30))], T, 32, WIDE)
    op(g, "matmul", torch.matmul, lambda d: [(r(d, 2, 3, 4, 5), r(d, 5, 6)), (r(d, 2, 1, 4, 5), r(d, 3, 5, 6)), (r(d, 5), r(d, 3, 5, 6)), (r(d, 2, 4, 5), r(d, 5))], T, 32, WIDE)
    op(g, "einsum", lambda a, b: [torch.einsum("bij,bjk->ik", a, b), torch.einsum("bij,bkj->bik", a, b.mT), torch.einsum("bij->j", a)], lambda d: [(r(d, 3, 8, 9), r(d, 3, 9, 7))], T, 64, WIDE)
    op(g, "tensordot", lambda a, b: torch.tensordot(a, b, ([1, 2], [0, 1])), lambda d: [(r(d, 3, 4, 5), r(d, 4, 5, 6))], T, 32, WIDE)
    op(g, "linear", F.linear, lambda d: [(r(d, 20, 40), r(d, 30, 40), r(d, 30)), (r(d, 2, 5, 40), r(d, 30, 40), r(d, 30)), (r(d, 40), r(d, 3, 40), r(d, 3))], FLOATS, 64, True)
    op(g, "bilinear", F.bilinear, lambda d: [(r(d, 6, 5), r(d, 6, 7), r(d, 4, 5, 7), r(d, 4))], FLOATS, 64, True)
    op(g, "multi_dot, matrix_power", lambda a, b, c: [torch.linalg.multi_dot([a, b, c]), torch.linalg.matrix_power(a @ b, 5)], lambda d: [(r(d, 6, 9) / 3, r(d, 9, 6), r(d, 6, 4))], WIDE + COMPLEX, 256)
    op(g, "cdist", lambda a, b: [torch.cdist(a, b), torch.cdist(a, b, 1), torch.cdist(a, b, 3)], lambda d: [(r(d, 20, 7), r(d, 31, 7)), (r(d, 3, 40, 9), r(d, 3, 50, 9) + 1)], WIDE, 256)
    op(g, "cdist, backwards", lambda a, b: [torch.cdist(a, b, 1.5), torch.cdist(a, b)], lambda d: [(r(d, 12, 7), r(d, 9, 7) + 2)], WIDE, 256, True)
    op(g, "pdist", F.pdist, lambda d: [(r(d, 30, 9),)], WIDE, 64, True)
    op(g, "cosine_similarity, pairwise_distance", lambda a, b: [F.cosine_similarity(a, b), F.pairwise_distance(a, b)], lambda d: [(r(d, 30, 9), r(d, 30, 9))], WIDE, 64, True)
    op(g, "baddbmm of integers by float", lambda a, b: torch.bmm(a.double(), b.double()), lambda d: [(rand(3, 4, 5, dtype=d, low=-9, high=9), rand(3, 5, 6, dtype=d, low=-9, high=9))], [torch.int32, torch.int8], 0)


def layers():
    g = "layers"
    r = lambda d, *s: rand(*s, dtype=d, low=-1, high=1)
    image = lambda d: [(r(d, 2, 4, 11, 12),), (r(d, 1, 3, 8, 9).transpose(2, 3),), (r(d, 2, 4, 9, 9).contiguous(memory_format=torch.channels_last),)]
    for name, size, bias, how in (
        ("conv1d", (6, 4, 5), 6, dict(stride=2, padding=2)), ("conv2d", (6, 4, 3, 3), 6, dict(padding=1)), ("conv2d 1x1", (6, 4, 1, 1), 6, {}),
        ("conv2d groups, dilation", (8, 2, 3, 3), 8, dict(groups=2, dilation=2, padding=2)), ("conv2d depthwise", (4, 1, 3, 3), 4, dict(groups=4, stride=2)),
        ("conv3d", (4, 4, 3, 3, 3), 4, dict(padding=1)), ("conv_transpose1d", (4, 5, 4), 5, dict(stride=2)), ("conv_transpose2d", (4, 5, 3, 3), 5, dict(stride=2, padding=1)),
        ("conv_transpose3d", (4, 2, 3, 3, 3), 2, {}),
    ):  # fmt: skip
        space = {3: (20,), 4: (11, 12), 5: (6, 7, 5)}[len(size)]
        f = getattr(F, name.split()[0])
        op(g, name, lambda x, w, b, f=f, how=how: f(x, w, b, **how), lambda d, size=size, bias=bias, space=space: [(r(d, 3, 4, *space), r(d, *size), r(d, bias))], FLOATS, 128, True)
    op(g, "conv2d channels last", lambda x, w: F.conv2d(x, w, padding=1), lambda d: [(r(d, 2, 8, 9, 9).contiguous(memory_format=torch.channels_last), r(d, 8, 8, 3, 3).contiguous(memory_format=torch.channels_last))], FLOATS, 128, True)
    for n in 1, 2, 3:
        x = lambda d, n=n: [(r(d, 2, 3, *(11, 12, 9)[:n]),)]
        op(g, f"max_pool{n}d", lambda x, n=n: getattr(F, f"max_pool{n}d")(x, 3, 2, 1), x, FLOATS, 1, True)
        op(g, f"avg_pool{n}d", lambda x, n=n: getattr(F, f"avg_pool{n}d")(x, 3, 2, 1), x, FLOATS, 8, True)
        op(g, f"adaptive_avg_pool{n}d", lambda x, n=n: getattr(F, f"adaptive_avg_pool{n}d")(x, 4), x, WIDE, 8, True)
        op(g, f"adaptive_max_pool{n}d", lambda x, n=n: getattr(F, f"adaptive_max_pool{n}d")(x, 4), x, WIDE, 0, True)
        op(g, f"lp_pool{n}d", lambda x, n=n: getattr(F, f"lp_pool{n}d")(x.abs() + 0.1, 2, 3), x, WIDE, 32, True)
    op(g, "max_pool2d indices, max_unpool2d", lambda x: (lambda y, i: [i, F.max_unpool2d(y, i, 2)])(*F.max_pool2d(x, 2, return_indices=True)), lambda d: [(r(d, 2, 3, 8, 8),)], WIDE, 0, True)
    op(g, "max_pool2d channels last", lambda x: F.max_pool2d(x, 2), lambda d: image(d)[2:], FLOATS, 1, True)
    for mode in "nearest", "bilinear", "bicubic", "area", "nearest-exact":
        op(g, f"interpolate {mode}", lambda x, mode=mode: [F.interpolate(x, (17, 9), mode=mode), F.interpolate(x, scale_factor=2, mode=mode)], image, WIDE, 32, True)
    op(g, "interpolate linear, trilinear", lambda x: [F.interpolate(x[:, :, 0, 0], 13, mode="linear"), F.interpolate(x, (7, 8, 5), mode="trilinear", align_corners=True)], lambda d: [(r(d, 2, 3, 4, 5, 6),)], WIDE, 32, True)
    for mode in "bilinear", "nearest", "bicubic":
        op(g, f"grid_sample {mode}", lambda x, at, mode=mode: F.grid_sample(x, at, mode=mode, padding_mode="border", align_corners=False), lambda d: [(r(d, 2, 3, 7, 8), r(d, 2, 5, 6, 2))], WIDE, 256, True if mode == "bilinear" else None)
    op(g, "affine_grid", lambda m: F.affine_grid(m, (2, 3, 5, 6), align_corners=False), lambda d: [(r(d, 2, 2, 3),)], WIDE, 32, True)
    for n, name in ((2, "batch_norm"), (3, "batch_norm 3d")):
        op(g, name, lambda x, w, b: F.batch_norm(x, None, None, w, b, True), lambda d, n=n: [(r(d, 4, 5, *(9, 8, 7)[:n]), r(d, 5), r(d, 5))], FLOATS, 128, True)
    op(g, "batch_norm, inference", lambda x, m, v, w, b: F.batch_norm(x, m, v.abs() + 0.5, w, b), lambda d: [(r(d, 4, 5, 9, 8), *(r(d, 5) for _ in range(4)))], FLOATS, 32)
    op(g, "batch_norm, rows", lambda x: F.batch_norm(x, None, None, training=True), lambda d: [(r(d, 40, 20),)], FLOATS, 128, True)
    op(g, "layer_norm", lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), lambda d: [(r(d, 6, 33), r(d, 33), r(d, 33)), (r(d, 3, 5, 1024), r(d, 1024), r(d, 1024))], FLOATS, 128, True)
    op(g, "rms_norm", lambda x, w: F.rms_norm(x, x.shape[-1:], w), lambda d: [(r(d, 6, 33), r(d, 33))], WIDE, 128, True)
    op(g, "group_norm", lambda x, w, b: F.group_norm(x, 3, w, b), lambda d: [(r(d, 4, 12, 7, 8), r(d, 12), r(d, 12))], FLOATS, 256, True)
    op(g, "instance_norm", F.instance_norm, lambda d: [(r(d, 3, 6, 9, 8),)], FLOATS, 128, True)
    op(g, "local_response_norm", lambda x: F.local_response_norm(x, 3), lambda d: [(r(d, 2, 6, 5, 5),)], WIDE, 32, True)
    op(g, "normalize", F.normalize, lambda d: [(r(d, 20, 33),)], FLOATS, 32, True)
    for name in "softmax", "log_softmax", "softmin":
        op(g, name, lambda x, f=getattr(F, name): [f(x, 0), f(x, -1)], lambda d: [(r(d, 7, 33) * 4,), (r(d, 5, 3000) * 4,), (r(d, 4, 9, 10).transpose(0, 2),), (r(d, 1, 1),), (r(d, 0, 3),)], FLOATS, 32, True)
    op(g, "softmax of f16 in f32", lambda x: F.softmax(x, -1, dtype=F32), lambda d: [(r(d, 9, 70),)], [F16], 4)
    op(g, "gumbel_softmax, hard", lambda x: F.gumbel_softmax(x, hard=True).sum(-1), lambda d: [(r(d, 50, 9),)], [F32], 4)
    pair = lambda d: [(r(d, 30, 9), r(d, 30, 9))]
    for name, f in {
        "mse_loss": F.mse_loss, "l1_loss": F.l1_loss, "smooth_l1_loss": F.smooth_l1_loss, "huber_loss": F.huber_loss, "soft_margin_loss": lambda a, b: F.soft_margin_loss(a, b.detach().sign()),
        "binary_cross_entropy": lambda a, b: F.binary_cross_entropy(a.sigmoid(), b.sigmoid()), "binary_cross_entropy_with_logits": lambda a, b: F.binary_cross_entropy_with_logits(a, b.sigmoid()),
        "kl_div": lambda a, b: F.kl_div(a.log_softmax(1), b.softmax(1), reduction="batchmean"), "poisson_nll_loss": F.poisson_nll_loss, "gaussian_nll_loss": lambda a, b: F.gaussian_nll_loss(a, b, a.abs() + 0.5),
        "hinge_embedding_loss": lambda a, b: F.hinge_embedding_loss(a, b.sign()), "cosine_embedding_loss": lambda a, b: F.cosine_embedding_loss(a, b, b[:, 0].sign()),
        "margin_ranking_loss": lambda a, b: F.margin_ranking_loss(a, b, b.sign()), "triplet_margin_loss": lambda a, b: F.triplet_margin_loss(a, b, a.flip(0)),
    }.items():  # fmt: skip
        op(g, name, f, pair, WIDE, 64, True)
    labels = lambda d: [(r(d, 30, 9) * 3, ints(9, 30)), (r(d, 3, 1000) * 3, ints(1000, 3))]
    for name, f in {
        "cross_entropy": F.cross_entropy, "cross_entropy, label smoothing": lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), "nll_loss": lambda x, y: F.nll_loss(x.log_softmax(1), y, ignore_index=2),
        "multi_margin_loss": F.multi_margin_loss, "cross_entropy, none": lambda x, y: F.cross_entropy(x, y, reduction="none"),
    }.items():  # fmt: skip
        op(g, name, f, labels, WIDE, 256, True)
    op(g, "cross_entropy of images", F.cross_entropy, lambda d: [(r(d, 2, 5, 6, 7), ints(5, 2, 6, 7))], WIDE, 64, True)
    op(g, "multilabel_margin_loss, multilabel_soft_margin_loss", lambda x, y: [F.multilabel_margin_loss(x, y), F.multilabel_soft_margin_loss(x, (y > 3).to(x.dtype))], lambda d: [(r(d, 30, 9), ints(9, 30, 9))], WIDE, 64, True)
    op(g, "ctc_loss", lambda x, y: F.ctc_loss(x.log_softmax(2), y, torch.full((4,), 20), torch.tensor([5, 6, 4, 6])), lambda d: [(r(d, 20, 4, 11), ints(10, 4, 6) + 1)], WIDE, 256, True)
    qkv = lambda d: [(r(d, 2, 3, 40, 32), r(d, 2, 3, 50, 32), r(d, 2, 3, 50, 32))]
    op(g, "scaled_dot_product_attention", F.scaled_dot_product_attention, qkv, FLOATS, 64, True)
    op(g, "scaled_dot_product_attention, causal", lambda q, k, v: F.scaled_dot_product_attention(q, k[:, :, :40], v[:, :, :40], is_causal=True), qkv, FLOATS, 64, True)
    op(g, "scaled_dot_product_attention, mask", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=(torch.arange(50, device=q.device) < 30).expand(40, 50)), qkv, WIDE, 64, True)
    def rnn(kind):
        def f(x):
            torch.manual_seed(3)
            m = kind(10, 16, 2, bidirectional=True).to(x.dtype).to(x.device)
            return m(x)[0]
        return f
    for kind in torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM:
        op(g, kind.__name__, rnn(kind), lambda d: [(r(d, 7, 3, 10),)], WIDE, 128, True)
    def attention(x):
        torch.manual_seed(3)
        return torch.nn.MultiheadAttention(32, 4).to(x.dtype).to(x.device)(x, x, x)[0]
    op(g, "MultiheadAttention", attention, lambda d: [(r(d, 9, 3, 32),)], WIDE, 128, True)


def transforms():
    g = "fft"
    T = COMPLEX + WIDE
    x = lambda d: [(rand(5, 32, dtype=d),), (rand(3, 30, dtype=d),), (rand(2, 37, dtype=d),), (rand(2, 4096, dtype=d),), (rand(16, 5, dtype=d).t(),)]
    c = lambda d: [(rand(3, 12, 10, dtype=d),), (rand(2, 16, 16, dtype=d),)]
    for name in "fft", "ifft":
        op(g, name, getattr(torch.fft, name), x, T, 32, WIDE + COMPLEX)
    op(g, "fft, lengths and norms", lambda x: [torch.fft.fft(x, 20), torch.fft.fft(x, 50, norm="ortho"), torch.fft.ifft(x, dim=0, norm="forward")], x, T, 32)
    op(g, "rfft", torch.fft.rfft, x, WIDE, 32, True)
    op(g, "irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x), x.shape[-1]), x, WIDE, 32, True)
    op(g, "hfft, ihfft", lambda x: [torch.fft.hfft(torch.fft.rfft(x)), torch.fft.ihfft(x)], x, WIDE, 64)
    for name in "fft2", "ifft2", "fftn", "ifftn":
        op(g, name, getattr(torch.fft, name), c, T, 32, COMPLEX)
    op(g, "rfft2, rfftn", lambda x: [torch.fft.rfft2(x), torch.fft.rfftn(x)], c, WIDE, 32, True)
    op(g, "irfft2, irfftn", lambda x: [torch.fft.irfft2(torch.fft.rfft2(x)), torch.fft.irfftn(torch.fft.rfftn(x))], c, WIDE, 32, True)
    op(g, "fftshift, ifftshift, fftfreq", lambda x: [torch.fft.fftshift(x), torch.fft.ifftshift(x), torch.fft.fftfreq(9, device=x.device), torch.fft.rfftfreq(9, device=x.device)], c, T, 1)
    op(g, "stft", lambda x: torch.stft(x, 32, 8, window=torch.hann_window(32, dtype=x.dtype, device=x.device), return_complex=True), lambda d: [(rand(2, 300, dtype=d),)], WIDE, 32, True)
    op(g, "istft", lambda x: torch.istft(torch.stft(x, 32, 8, window=torch.hann_window(32, dtype=x.dtype, device=x.device), return_complex=True), 32, 8, window=torch.hann_window(32, dtype=x.dtype, device=x.device)), lambda d: [(rand(2, 300, dtype=d),)], WIDE, 64, True)
    op(g, "windows", lambda x: [f(40, dtype=x.dtype, device=x.device) for f in (torch.hann_window, torch.hamming_window, torch.blackman_window, torch.bartlett_window, torch.kaiser_window)], lambda d: [(rand(1, dtype=d),)], WIDE, 32)


def linear():
    g = "linear algebra"
    T = WIDE + COMPLEX
    L = torch.linalg
    def square(d, *shape):
        n = shape[-1]
        return rand(*shape, n, dtype=d, low=-1, high=1) / n + torch.eye(n, dtype=d)
    def spd(d, *shape):
        a = rand(*shape, shape[-1], dtype=d, low=-1, high=1)
        return a @ a.mH / shape[-1] + torch.eye(shape[-1], dtype=d)
    s = lambda d: [(square(d, 8),), (square(d, 3, 33),), (square(d, 100),), (square(d, 1),)]
    p = lambda d: [(spd(d, 8),), (spd(d, 3, 33),), (spd(d, 100),)]
    sb = lambda d: [(square(d, 8), rand(8, 3, dtype=d)), (square(d, 3, 33), rand(3, 33, 2, dtype=d)), (square(d, 70), rand(70, dtype=d))]
    op(g, "cholesky", L.cholesky, p, T, 64)
    op(g, "cholesky, backwards", lambda a: L.cholesky((a + a.mH) / 2), p, WIDE, 128, True)
    op(g, "cholesky_solve, cholesky_inverse", lambda a: (lambda l: [torch.cholesky_solve(a, l), torch.cholesky_inverse(l)])(L.cholesky(a)), lambda d: p(d)[:2], T, 128)
    op(g, "inv", L.inv, s, T, 64, True)
    op(g, "det, slogdet, logdet", lambda a: [L.det(a), *L.slogdet(a), torch.logdet(a.abs() * 0 + a) if not a.is_complex() else a.sum()], s, T, 1024, True)
    op(g, "solve", L.solve, sb, T, 64, True)
    op(g, "lu_factor", L.lu_factor, s, T, 64)
    op(g, "lu", L.lu, s, WIDE, 64)
    op(g, "lu_solve", lambda a, b: L.lu_solve(*L.lu_factor(a), b if b.dim() > 1 else b[:, None]), sb, T, 64)
    op(g, "solve_triangular", lambda a, b: [L.solve_triangular(a.triu(), b if b.dim() > 1 else b[:, None], upper=True), L.solve_triangular(a.tril(), b if b.dim() > 1 else b[:, None], upper=False)], sb, T, 64, True)
    # signs of vectors are free: what does not depend on them is compared
    op(g, "qr", L.qr, lambda d: [(rand(12, 8, dtype=d),), (rand(3, 20, 30, dtype=d),)], T, 512, check=lambda a, o: [o[0] @ o[1], o[1].abs()])
    op(g, "qr, backwards", lambda a: (lambda q, r: q @ r + r.mT @ r)(*L.qr(a)) if a.shape[0] == a.shape[1] else L.qr(a)[1].mT @ L.qr(a)[1], lambda d: [(rand(12, 8, dtype=d),)], WIDE, 512, True)
    op(g, "svd", L.svd, lambda d: [(rand(12, 8, dtype=d),), (rand(3, 20, 30, dtype=d),)], T, 512, check=lambda a, o: [o[1], (o[0][..., : o[1].shape[-1]] * o[1][..., None, :].to(o[0].dtype)) @ o[2][..., : o[1].shape[-1], :]])
    op(g, "svdvals", L.svdvals, lambda d: [(rand(12, 8, dtype=d),), (rand(40, 60, dtype=d),)], T, 128)
    op(g, "eigh", L.eigh, p, T, 512, check=lambda a, o: [o[0], (o[1] * o[0][..., None, :].to(o[1].dtype)) @ o[1].mH])
    op(g, "eigvalsh", L.eigvalsh, p, T, 128)
    op(g, "lstsq", lambda a, b: L.lstsq(a, b).solution, lambda d: [(rand(20, 6, dtype=d), rand(20, 3, dtype=d))], T, 512)
    op(g, "pinv", L.pinv, lambda d: [(rand(12, 8, dtype=d),)], T, 2048)
    op(g, "matrix_rank, cond", lambda a: [L.matrix_rank(a), L.cond(a)], s, WIDE, 512)
    op(g, "matrix_exp", torch.matrix_exp, lambda d: s(d)[:3], T, 256, True)
    op(g, "matrix_norm", lambda a: [L.matrix_norm(a, n) for n in ("fro", "nuc", 1, -1, 2, float("inf"))], s, WIDE, 256)
    op(g, "householder_product, ormqr", lambda a: (lambda q, t: L.householder_product(q, t))(*torch.geqrf(a)), lambda d: [(rand(12, 8, dtype=d),)], T, 256)
    op(g, "cross", L.cross, lambda d: [(rand(50, 3, dtype=d), rand(50, 3, dtype=d))], FLOATS + COMPLEX, 8, WIDE)
    op(g, "tensorsolve, tensorinv", lambda a, b: [L.tensorsolve(a, b), L.tensorinv(a.reshape(2, 3, 6))], lambda d: [((rand(6, 6, dtype=d) / 6 + torch.eye(6, dtype=d)).reshape(2, 3, 6), rand(2, 3, dtype=d))], WIDE, 512)
    op(g, "vecdot, vector_norm", lambda a, b: [L.vecdot(a, b), L.vector_norm(a)], lambda d: [(rand(9, 40, dtype=d), rand(9, 40, dtype=d))], T, 64, WIDE)
    op(g, "eig", L.eigvals, lambda d: [(torch.diag(torch.arange(1.0, 7)).to(d) + rand(6, 6, dtype=d).triu(1),)], WIDE, 4096, check=lambda a, o: o.real.sort().values)


def sparse():
    g = "sparse"
    def thin(d, *shape):
        return rand(*shape, dtype=d) * (torch.rand(shape, generator=torch.Generator().manual_seed(3)) < 0.2)
    x = lambda d: [(thin(d, 30, 20), rand(20, 7, dtype=d))]
    T = WIDE + COMPLEX
    op(g, "to_sparse, to_dense", lambda a, b: a.to_sparse().to_dense(), x, T + [torch.int64], 0)
    op(g, "coalesce", lambda a, b: torch.sparse_coo_tensor(torch.cat([a.to_sparse().indices()] * 2, 1), torch.cat([a.to_sparse().values()] * 2), a.shape, device=a.device).coalesce().to_dense(), x, WIDE, 4)
    op(g, "sparse.mm", lambda a, b: torch.sparse.mm(a.to_sparse(), b), x, T, 32)
    op(g, "sparse.mm, sparse", lambda a, b: torch.sparse.mm(a.to_sparse(), b.to_sparse()), x, WIDE, 32)
    op(g, "sparse csr @ dense", lambda a, b: [a.to_sparse_csr() @ b, a.to_sparse_csr() @ b[:, 0]], x, T, 32)
    op(g, "sparse csc, bsr", lambda a, b: [a.to_sparse_csc().to_dense(), a.to_sparse_bsr((5, 5)).to_dense()], x, WIDE, 0)
    op(g, "sparse add, mul", lambda a, b: [(a.to_sparse() + a.to_sparse()), (a.to_sparse() * 2), (a.to_sparse() * a.to_sparse())], x, WIDE, 4)
    op(g, "sparse.addmm", lambda a, b: torch.sparse.addmm(torch.ones(30, 7, dtype=b.dtype, device=b.device), a.to_sparse(), b, beta=0.5), x, WIDE, 32)
    op(g, "sparse.sum", lambda a, b: [torch.sparse.sum(a.to_sparse()), torch.sparse.sum(a.to_sparse(), 0)], x, WIDE, 32)
    op(g, "sparse.softmax", lambda a, b: torch.sparse.softmax(a.to_sparse(), 1), x, WIDE, 32)
    op(g, "sparse.sampled_addmm", lambda a, b: torch.sparse.sampled_addmm(a.to_sparse_csr(), b[:1].T.new_ones(30, 5), b.new_ones(5, 20)), x, WIDE, 32)
    op(g, "sparse gradient of embedding", lambda w, i: torch.autograd.grad(F.embedding(i, w.requires_grad_(), sparse=True).sum(), w)[0].coalesce(), lambda d: [(rand(50, 8, dtype=d), ints(50, 40))], WIDE, 8)


def lists():
    g = "foreach"
    x = lambda d: [([rand(n, dtype=d, low=0.3, high=2) for n in (1, 7, 300, 70000)], [rand(n, dtype=d, low=0.3, high=2) for n in (1, 7, 300, 70000)])]
    for name in "add sub mul div maximum minimum pow".split():
        op(g, f"_foreach_{name}", lambda a, b, f=getattr(torch, f"_foreach_{name}"): [f(a, b), f(a, 2.0)], x, FLOATS if name in ("add", "mul") else WIDE, 8)
    for name in "abs neg sqrt exp log sin cos tanh sigmoid floor reciprocal erf lgamma log1p expm1 round trunc frac sign".split():
        op(g, f"_foreach_{name}", lambda a, b, f=getattr(torch, f"_foreach_{name}"): f(a), x, WIDE, 16)
    op(g, "_foreach_addcmul, _foreach_addcdiv", lambda a, b: [torch._foreach_addcmul(a, b, a, 0.5), torch._foreach_addcdiv(a, b, a, 0.5)], x, FLOATS, 8)
    op(g, "_foreach_lerp", lambda a, b: torch._foreach_lerp(a, b, 0.3), x, FLOATS, 8)
    op(g, "_foreach_norm", lambda a, b: [torch._foreach_norm(a), torch._foreach_norm(a, 1)], x, WIDE, 256)
    op(g, "clip_grad_norm_", lambda a, b: [torch.nn.utils.get_total_norm(a), *a], x, WIDE, 256)
    op(g, "_foreach_copy_, _foreach_zero_", lambda a, b: (lambda c: [torch._foreach_copy_(c, b) and c, torch._foreach_zero_(a) and a])([t.clone() for t in a]), x, WIDE, 0)


def chance():
    """Random numbers by their statistics: the mean and the spread of a million, within 6 standard errors."""
    g = "random"
    n = 1 << 20
    def stat(name, make, mean, std, kurt=3.0, dtypes=(F32,)):
        def f(x):
            if x.device.type == "cpu":  # what theory says
                return torch.zeros(2, dtype=F64)
            torch.manual_seed(11)
            y = make(x).double().cpu()
            off = torch.stack([(y.mean() - mean).abs() / (std / n**0.5), (y.std() - std).abs() / (std * ((kurt - 1) / (4 * n)) ** 0.5)])
            return off.clamp(min=0) * torch.finfo(F32).eps * (off > 0)
        op(g, name, f, lambda d: [(rand(1, dtype=d),)], dtypes, 6.0)
    dev = lambda x: dict(device=x.device, dtype=x.dtype)
    stat("rand", lambda x: torch.rand(n, **dev(x)), 0.5, 12**-0.5, 1.8)
    stat("randn", lambda x: torch.randn(n, **dev(x)), 0, 1)
    stat("randn f64", lambda x: torch.randn(n, device=x.device, dtype=F64), 0, 1)
    stat("randn_like", lambda x: torch.randn_like(x.expand(n)), 0, 1)
    stat("randint", lambda x: torch.randint(0, 100, (n,), device=x.device), 49.5, (9999 / 12) ** 0.5, 1.8)
    stat("uniform_", lambda x: torch.empty(n, **dev(x)).uniform_(-1, 3), 1, 4 * 12**-0.5, 1.8)
    stat("normal_", lambda x: torch.empty(n, **dev(x)).normal_(2, 3), 2, 3)
    stat("normal of tensors", lambda x: torch.normal(x.new_full((n,), 2), x.new_full((n,), 3)), 2, 3)
    stat("exponential_", lambda x: torch.empty(n, **dev(x)).exponential_(2), 0.5, 0.5, 9)
    stat("log_normal_", lambda x: torch.empty(n, **dev(x)).log_normal_(0, 0.25), 2.718281828 ** (0.03125), ((2.718281828**0.0625 - 1) * 2.718281828**0.0625) ** 0.5, 4.1)
    stat("geometric_", lambda x: torch.empty(n, **dev(x)).geometric_(0.25), 4, 12**0.5, 9.1)
    stat("bernoulli", lambda x: torch.bernoulli(x.new_full((n,), 0.3)), 0.3, 0.21**0.5, 1.8)
    stat("bernoulli_", lambda x: torch.empty(n, **dev(x)).bernoulli_(0.3), 0.3, 0.21**0.5, 1.8)
    stat("cauchy_, below its median", lambda x: (torch.empty(n, **dev(x)).cauchy_(2) < 2).float(), 0.5, 0.5, 1.01)
    stat("poisson", lambda x: torch.poisson(x.new_full((n,), 4.0)), 4, 2, 3.25)
    stat("binomial", lambda x: torch.binomial(x.new_full((n,), 10), x.new_full((n,), 0.3)), 3, 2.1**0.5, 3)
    stat("multinomial", lambda x: torch.multinomial(torch.tensor([0.1, 0.2, 0.3, 0.4], **dev(x)), n, replacement=True), 2, 1, 2.3)
    stat("dropout", lambda x: F.dropout(x.new_ones(n), 0.25), 1, (1 / 0.75 - 1) ** 0.5, 2.4)
    stat("alpha_dropout", lambda x: F.alpha_dropout(torch.randn(n, **dev(x)), 0.25), 0, 1, 3)
    stat("feature_dropout", lambda x: F.dropout2d(x.new_ones(1, n, 1, 1), 0.25), 1, (1 / 0.75 - 1) ** 0.5, 2.4)
    stat("gamma", lambda x: torch.distributions.Gamma(x.new_tensor(3.0), x.new_tensor(2.0)).sample((n,)), 1.5, 0.75**0.5, 5)
    stat("beta", lambda x: torch.distributions.Beta(x.new_tensor(2.0), x.new_tensor(3.0)).sample((n,)), 0.4, 0.2, 2.4)
    stat("dirichlet", lambda x: torch.distributions.Dirichlet(x.new_tensor([2.0, 3.0])).sample((n,))[:, 0], 0.4, 0.2, 2.4)
    stat("randperm", lambda x: torch.randperm(n, device=x.device), (n - 1) / 2, ((n * n - 1) / 12) ** 0.5, 1.8)
    stat("rrelu", lambda x: F.rrelu(x.new_full((n,), -1.0), 0.1, 0.3, True), -0.2, 0.2 * 12**-0.5, 1.8)
    op(g, "a seed gives the same numbers again", lambda x: (lambda f: (f() == f()).all())(lambda: (torch.manual_seed(5), torch.randn(5000, device=x.device))[1]), lambda d: [(rand(1),)], [F32], 0)
    op(g, "a state set again", lambda x: (lambda s, a: (a == (s(), torch.rand(999, device=x.device))[1]).all())(*(lambda st: (lambda: torch.cuda.set_rng_state(st) if x.is_cuda else torch.set_rng_state(st), torch.rand(999, device=x.device)))(torch.cuda.get_rng_state() if x.is_cuda else torch.get_rng_state())), lambda d: [(rand(1),)], [F32], 0)
    op(g, "multinomial without replacement", lambda x: torch.multinomial(torch.ones(300, device=x.device), 300).sort().values, lambda d: [(rand(1),)], [F32], 0)
