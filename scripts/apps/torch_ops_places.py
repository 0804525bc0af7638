"""Operators of client_torch_ops.py that sort, search, index, and make or join tensors."""

import torch
import torch.nn.functional as F

from torch_cases import ALL, BOOL, COMPLEX, F32, F64, FLOATS, INTS, NUMBERS, WIDE, ints, op, rand, state


def sorting():
    # gradients are those of numbers that are all different
    dup = lambda d: [(rand(7, 33, dtype=d, low=-99, high=99),), (rand(3, 5000, dtype=d, low=-99, high=99),), (rand(200, 9, dtype=d).t(),), (rand(1, dtype=d),), (rand(0, dtype=d),), (rand(2, 2, 31, dtype=d),), (rand(70000, dtype=d, low=-99, high=99),)]
    op("sorting", "sort", lambda x: [x.sort(-1).values, x.sort(0, descending=True).values], dup, NUMBERS, 0, [F64])
    op("sorting", "sort, stable", lambda x: [*torch.sort(x, stable=True, dim=-1), *torch.sort(x, stable=True, dim=0, descending=True)], dup, NUMBERS + BOOL, 0)
    op("sorting", "argsort", lambda x: torch.argsort(x, stable=True, dim=-1), dup, [F32, torch.int64], 0)
    op("sorting", "msort", torch.msort, dup, WIDE, 0, [F64])
    big = lambda d: [a for a in dup(d) if a[0].shape[-1] >= 9]
    op("sorting", "topk", lambda x: [x.topk(5, -1).values, x.topk(3, -1, largest=False).values], big, NUMBERS, 0, True)
    op("sorting", "topk, indices", lambda x: x.topk(6, -1).indices, lambda d: [(torch.randperm(9000, generator=state).to(d).reshape(3, 3000),), (torch.randperm(40, generator=state).to(d),), (torch.randperm(200000, generator=state).to(d),)], WIDE + [torch.int32], 0)
    few = lambda d: [(rand(5000, dtype=d, low=-9, high=9),), (rand(30, 30, dtype=d, low=-9, high=9).t(),), (rand(1, dtype=d),), (rand(0, dtype=d),)]
    op("sorting", "unique", lambda x: torch.unique(x, return_inverse=True, return_counts=True), few, INTS + [F32] + BOOL, 0)
    op("sorting", "unique, rows", lambda x: torch.unique(x, dim=0, return_inverse=True, return_counts=True), lambda d: [(rand(300, 3, dtype=d, low=0, high=2),)], [torch.int32, torch.int64], 0)
    op("sorting", "unique_consecutive", lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True), lambda d: [(rand(3000, dtype=d, low=0, high=2),)], [torch.int32, torch.int64], 0)
    op("sorting", "nonzero", torch.nonzero, lambda d: [(rand(30, 41, dtype=d, low=0, high=1),), (rand(20000, dtype=d, low=0, high=1),), (rand(9, 8, 7, dtype=d, low=0, high=1).permute(2, 0, 1),), (rand(0, 3, dtype=d),)], INTS + BOOL + [F32], 0)
    op("sorting", "argwhere", torch.argwhere, lambda d: [(rand(30, 41, dtype=d, low=0, high=1),)], [torch.int64], 0)
    edges = lambda d: [(rand(50, dtype=d, low=-30, high=30).sort().values, rand(5, 300, dtype=d, low=-40, high=40))]
    op("sorting", "searchsorted", lambda e, x: [torch.searchsorted(e, x), torch.searchsorted(e, x, right=True)], edges, NUMBERS, 0)
    op("sorting", "bucketize", lambda e, x: [torch.bucketize(x, e), torch.bucketize(x, e, out_int32=True)], edges, NUMBERS, 0)
    op("sorting", "isin", lambda a, b: torch.isin(a, b), lambda d: [(rand(400, dtype=d, low=-50, high=50), rand(20, dtype=d, low=-50, high=50)), (rand(400, dtype=d, low=-50, high=50), rand(900, dtype=d, low=-50, high=50))], INTS, 0)
    op("sorting", "randperm is a permutation", lambda x: torch.randperm(5000, device=x.device).sort().values, lambda d: [(rand(1),)], [F32], 0)
    op("sorting", "lexsort by two stable sorts", lambda a, b: (lambda i: i[a[i].sort(stable=True).indices])(b.sort(stable=True).indices), lambda d: [(rand(2000, dtype=d, low=-3, high=3), rand(2000, dtype=d, low=-3, high=3))], [torch.int64], 0)


def indexing():
    g = "indexing"
    m = lambda d: rand(20, 31, dtype=d, low=-30, high=30)
    op(g, "index_select", lambda x, i: [x.index_select(0, i), x.index_select(1, i)], lambda d: [(m(d), ints(20, 50)), (m(d).t(), ints(20, 3)), (m(d), ints(20, 0))], ALL, 16, WIDE)
    op(g, "gather", lambda x, i: [x.gather(0, i % 20), x.gather(1, i)], lambda d: [(m(d), ints(31, 20, 31)), (m(d), ints(31, 5, 7))], ALL, 16, WIDE)
    op(g, "take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), lambda d: [(m(d), ints(31, 20, 4))], NUMBERS, 0, True)
    op(g, "take", torch.take, lambda d: [(m(d), ints(600, 9, 9))], NUMBERS, 0, True)
    op(g, "put", lambda x, i, v: x.put(i, v), lambda d: [(m(d), torch.randperm(600, generator=state)[:90], rand(90, dtype=d))], NUMBERS, 0, True)
    op(g, "put accumulate", lambda x, i, v: x.put(i, v, accumulate=True), lambda d: [(m(d), ints(600, 900), rand(900, dtype=d))], WIDE + INTS, 16)
    rows = lambda d: [(m(d), torch.stack([torch.randperm(20, generator=state)[:9] for _ in range(31)], 1), rand(9, 31, dtype=d, low=-9, high=9))]
    op(g, "scatter", lambda x, i, v: x.scatter(0, i, v), rows, ALL, 0, WIDE)
    op(g, "scatter, a number", lambda x, i, v: x.scatter(0, i, 3), rows, NUMBERS, 0, True)
    many = lambda d: [(m(d), ints(20, 400, 31), rand(400, 31, dtype=d, low=-9, high=9))]
    op(g, "scatter_add", lambda x, i, v: x.scatter_add(0, i, v), many, NUMBERS, 64, True)
    for r in "sum prod mean amax amin".split():
        vals = lambda d, r=r: [(rand(20, 31, dtype=d, low=1, high=3), ints(20, 40, 31), rand(40, 31, dtype=d, low=1, high=2))]
        op(g, f"scatter_reduce {r}", lambda x, i, v, r=r: x.scatter_reduce(0, i, v, r), vals, WIDE + [torch.int32, torch.int64], 64, True if r != "prod" else None)
        op(g, f"index_reduce {r}", lambda x, i, v, r=r: x.index_reduce(0, i, v, {"sum": "mean"}.get(r, r)), lambda d: [(rand(20, 31, dtype=d, low=1, high=3), ints(20, 40), rand(40, 31, dtype=d, low=1, high=2))], WIDE, 64)
    op(g, "index_add", lambda x, i, v: x.index_add(0, i, v), lambda d: [(m(d), ints(20, 90), rand(90, 31, dtype=d)), (m(d), ints(20, 0), rand(0, 31, dtype=d))], NUMBERS + COMPLEX, 64, WIDE)
    op(g, "index_copy", lambda x, i, v: x.index_copy(0, i, v), lambda d: [(m(d), torch.randperm(20, generator=state)[:5], rand(5, 31, dtype=d))], ALL, 0, WIDE)
    op(g, "index_fill", lambda x, i: x.index_fill(1, i, 2), lambda d: [(m(d), ints(20, 7))], NUMBERS, 0, True)
    op(g, "index_put", lambda x, i, v: x.index_put((i,), v), lambda d: [(m(d), torch.randperm(20, generator=state)[:5], rand(5, 31, dtype=d))], ALL, 0, WIDE)
    op(g, "index_put accumulate", lambda x, i, j, v: x.index_put((i, j), v, accumulate=True), lambda d: [(m(d), ints(20, 900), ints(31, 900), rand(900, dtype=d))], WIDE + INTS, 64, True)
    op(g, "x[i, j]", lambda x, i, j: [x[i, j], x[i], x[:, j], x[i[:, None], j], x[..., -1], x[None, ::2, 3:9]], lambda d: [(m(d), ints(20, 40), ints(31, 40))], ALL, 0, WIDE)
    op(g, "x[mask]", lambda x, k: [x[k], x[k[:, 0]]], lambda d: [(m(d), rand(20, 31, dtype=torch.bool))], ALL, 0, WIDE)

    def assign(x, k, v):
        x = x.clone()
        x[k] = 7
        x[2:9:3, ::2] = v[0, 0]
        x[-1] = v[0]
        return x

    op(g, "x[...] = y", assign, lambda d: [(m(d), rand(20, 31, dtype=torch.bool), m(d))], ALL, 0)
    op(g, "masked_fill", lambda x, k: x.masked_fill(k, 3), lambda d: [(m(d), rand(20, 31, dtype=torch.bool)), (m(d), rand(31, dtype=torch.bool))], ALL, 0, WIDE)
    op(g, "masked_select", lambda x, k: x.masked_select(k), lambda d: [(m(d), rand(20, 31, dtype=torch.bool)), (m(d).t(), rand(20, dtype=torch.bool)), (rand(50000, dtype=d), rand(50000, dtype=torch.bool))], ALL, 0, WIDE)
    op(g, "masked_scatter", lambda x, k, v: x.masked_scatter(k, v), lambda d: [(m(d), rand(20, 31, dtype=torch.bool), m(d))], NUMBERS, 0, True)
    op(g, "tril, triu", lambda x: [x.tril(), x.triu(1), x.tril(-2)], lambda d: [(m(d),), (rand(3, 9, 9, dtype=d),), (m(d).t(),)], ALL, 0, WIDE)
    op(g, "diag, diagonal, diag_embed", lambda x: [x.diag(), x.diagonal(1), x[0].diag_embed(), torch.diagflat(x[1])], lambda d: [(m(d),)], NUMBERS, 0, True)
    op(g, "trace", torch.trace, lambda d: [(m(d),)], NUMBERS + COMPLEX, 32, WIDE)
    op(g, "diagonal_scatter, select_scatter, slice_scatter", lambda x: [x.diagonal_scatter(x[:, 0]), x.select_scatter(x[1], 0, 3), x.slice_scatter(x[:4], 0, 4, 8)], lambda d: [(m(d),)], NUMBERS, 0, True)
    op(g, "roll, flip, rot90", lambda x: [x.roll(3), x.roll((1, 2), (0, 1)), x.flip(0), x.flip((0, 1)), x.rot90()], lambda d: [(m(d),), (m(d).t(),)], ALL, 0, WIDE)
    op(g, "repeat, tile, expand", lambda x: [x.repeat(2, 3), x.tile(2), x[:, :1].expand(-1, 9).contiguous()], lambda d: [(m(d),)], ALL, 16, WIDE)
    op(g, "repeat_interleave", lambda x, n: [x.repeat_interleave(3, 0), x.repeat_interleave(n, 0)], lambda d: [(m(d), ints(4, 20))], NUMBERS, 0, True)
    op(g, "cat", lambda a, b: [torch.cat([a, b]), torch.cat([a, a, b, a], 1), torch.cat([a[:0], b])], lambda d: [(m(d), m(d)), (m(d).t(), m(d).t())], ALL, 0, WIDE)
    op(g, "cat of 200", lambda a: torch.cat([a[i % 20, : i % 31] for i in range(200)]), lambda d: [(m(d),)], NUMBERS, 0)
    op(g, "stack, hstack, vstack, dstack", lambda a, b: [torch.stack([a, b], 1), torch.hstack([a, b]), torch.vstack([a, b]), torch.dstack([a, b])], lambda d: [(m(d), m(d))], ALL, 0, WIDE)
    op(g, "split, chunk, unbind", lambda x: [t.contiguous() for t in (*x.split(6), *x.chunk(4, 1), *x.unbind()[:3])], lambda d: [(m(d),)], ALL, 0, WIDE)
    op(g, "permute, transpose, contiguous", lambda x: [x.permute(2, 0, 1).contiguous(), x.transpose(0, 2).contiguous(), x.movedim(1, 2).contiguous()], lambda d: [(rand(20, 33, 40, dtype=d),)], ALL, 0, WIDE)
    op(g, "unfold, as_strided", lambda x: [x.unfold(1, 5, 3).contiguous(), x.as_strided((5, 4), (31, 2)).contiguous()], lambda d: [(m(d),)], NUMBERS, 0, True)
    for mode in "constant", "reflect", "replicate", "circular":
        op(g, f"pad {mode}", lambda x, mode=mode: [F.pad(x, (2, 3, 1, 2), mode=mode)], lambda d: [(rand(2, 3, 8, 9, dtype=d),)], FLOATS, 8, True)
    op(g, "pad 1d, 3d", lambda x: [F.pad(x, (1, 2, 2, 1, 1, 1), mode="replicate"), F.pad(x, (1, 2, 2, 1, 1, 1), mode="reflect"), F.pad(x[0, 0], (2, 1), mode="reflect")], lambda d: [(rand(2, 3, 5, 6, 7, dtype=d),)], WIDE, 8, True)
    op(g, "embedding", lambda w, i: F.embedding(i, w, padding_idx=1), lambda d: [(rand(50, 24, dtype=d), ints(50, 4, 30)), (rand(5, 64, dtype=d), ints(5, 4000))], FLOATS, 256, True)
    for mode in "sum", "mean", "max":
        op(g, f"embedding_bag {mode}", lambda w, i, o, mode=mode: F.embedding_bag(i, w, o, mode=mode), lambda d: [(rand(50, 24, dtype=d), ints(50, 100), torch.tensor([0, 10, 10, 40, 99]))], WIDE, 32, True)
    op(g, "one_hot", lambda i: F.one_hot(i, 30), lambda d: [ints(30, 5, 6)], [torch.int64], 0)
    op(g, "arange, linspace, logspace, eye, full", lambda x: [torch.arange(1, 5000, 3, device=x.device, dtype=x.dtype) % 90, torch.linspace(-2, 7, 1001, device=x.device, dtype=x.dtype), torch.logspace(-2, 2, 33, device=x.device, dtype=x.dtype), torch.eye(7, 9, device=x.device, dtype=x.dtype), torch.full((3, 4), 2, device=x.device, dtype=x.dtype)],
       lambda d: [(rand(1, dtype=d),)], WIDE, 8)  # fmt: skip
    op(g, "arange of integers", lambda x: [torch.arange(-7, 90, 3, device=x.device, dtype=x.dtype), torch.linspace(0, 100, 11, device=x.device).to(x.dtype), torch.tril_indices(7, 9, device=x.device), torch.triu_indices(7, 9, 1, device=x.device)], lambda d: [(rand(1, dtype=d),)], [torch.int32, torch.int64], 0)
    op(g, "meshgrid, cartesian_prod, combinations", lambda a, b: [*torch.meshgrid(a, b, indexing="ij"), torch.cartesian_prod(a, b), torch.combinations(a, 2)], lambda d: [(rand(7, dtype=d), rand(9, dtype=d))], NUMBERS, 0)
    op(g, "block_diag, kron, vander", lambda a, b: [torch.block_diag(a, b), torch.kron(a, b), torch.vander(a[0], 4)], lambda d: [(rand(3, 4, dtype=d), rand(2, 5, dtype=d))], WIDE, 8)
    op(g, "pixel_shuffle, pixel_unshuffle, channel_shuffle", lambda x: [F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 4)], lambda d: [(rand(2, 8, 6, 6, dtype=d),)], WIDE, 0, None)
    op(g, "fold, unfold of images", lambda x: [F.unfold(x, 3, padding=1), F.fold(F.unfold(x, 3, padding=1), (8, 9), 3, padding=1)], lambda d: [(rand(2, 3, 8, 9, dtype=d),)], FLOATS, 16, True)
    op(g, "bool algebra", lambda a, b: [a & b, a | ~b, a ^ b, a.sum(), a.all(1), a.any(0), a.cumsum(1), a * 2, a.nonzero()], lambda d: [(rand(30, 41, dtype=d), rand(30, 41, dtype=d))], BOOL, 0)
    op(g, "unflatten, view, squeeze, reshape", lambda x: [x.unflatten(0, (4, 5)) + 1, x.view(31, 20) * 2, x[None].squeeze() + 0, x.t().reshape(-1)], lambda d: [(m(d),)], NUMBERS, 1)
