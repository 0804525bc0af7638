#!/usr/bin/env python3
"""PyTorch operations on small tensors against its own CPU path: what a build without PTX does with a pack (docs/packs.md).

  pack_torch.py [FIRST]     a line for each operation: right, wrong, or the error; then the counts

An error for a missing kernel may stay (docs/packs.md), so after one the rest runs in another process.
"""
import os
import subprocess
import sys

OPS = """v+1; v*v; v/(v.abs()+1); v.exp(); v.sin(); v.tanh(); v.sqrt().nan_to_num(); v.abs().log(); torch.erf(v); v.sigmoid(); v.relu(); F.gelu(v); F.silu(v);
v.round(); v>0; v==v; torch.where(v>0,v,-v); v.clamp(-1,1); v.pow(3); torch.atan2(v,v.flip(0)); torch.maximum(v,-v); torch.lerp(v,-v,0.3);
v.half()*2; v.double()*2; v.long(); v.bool(); v.to(torch.bfloat16)+1; i+i; i*3; i//3; i%7; i&3; i<<1; m.sum(); m.sum(0); m.sum(1); m.mean(1); m.prod(1);
m.amax(1); m.amin(0); m.argmax(1); m.max(0); m.norm(dim=1); m.logsumexp(1); (m>0).all(1); (m>0).any(0); m.std(1); m.var(0); torch.var_mean(m,1);
v.cumsum(0); m.cumsum(1); m.cumprod(1); m.cummax(1); v.sort(); m.sort(1); v.argsort(); big.sort(); m.topk(3,1); v.kthvalue(5); m.median(1); (i.view(20,50)==i.view(20,50).mode(1).values[:,None]).sum(1);
i.mode(0); v.unique(); (v>0).nonzero(); v.masked_select(v>0); v[v>0]; m[idx]; m.index_select(0,idx); m.gather(1,idx.expand(20,10)); m.clone().index_add_(0,idx,m[:10]);
m.clone().scatter_(0,idx[:,None].expand(10,50),m[:10]); m.clone().index_fill_(0,idx,1.); m.masked_fill(m>0,0.); m.tril(); m.triu(1); m.t().contiguous(); torch.cat([m,m]);
torch.stack([m,m]); m.flip(0); m.roll(3,1); F.pad(m,(1,2)); m.repeat(2,2); torch.diag(m[:,:20]); m@m.t(); torch.bmm(m[None],m.t()[None]); m@m[0]; torch.addmm(m@m.t(),m,m.t());
torch.einsum('ij,kj->ik',m,m); torch.outer(v[:20],v[:20]); torch.linalg.inv(m@m.t()+20*torch.eye(20,device=d)); torch.linalg.cholesky(m@m.t()+20*torch.eye(20,device=d));
F.softmax(m,1); F.log_softmax(m,1); F.layer_norm(m,(50,)); F.batch_norm(m,None,None,training=True); F.group_norm(m[None],4); F.conv2d(img,ker); F.conv1d(m[None],ker1); F.max_pool2d(img,2);
F.avg_pool2d(img,2); F.adaptive_avg_pool2d(img,3); F.interpolate(img,scale_factor=2.,mode='bilinear'); F.interpolate(img,scale_factor=2.); F.grid_sample(img,grid,align_corners=False);
F.embedding(idx,m); F.cross_entropy(m,tgt); F.mse_loss(m,-m); F.l1_loss(m,-m); F.smooth_l1_loss(m,-m); F.kl_div(F.log_softmax(m,1),F.softmax(-m,1),reduction='sum');
F.binary_cross_entropy_with_logits(m,(m>0).float()); F.nll_loss(F.log_softmax(m,1),tgt); F.cosine_similarity(m,-m+1); torch.cdist(m,m); F.one_hot(tgt,50); F.unfold(img,2); F.pixel_shuffle(img,2);
F.scaled_dot_product_attention(m[None,None],m[None,None],m[None,None]); torch.fft.fft(v).abs(); torch.fft.rfft(m,dim=1).abs(); torch.bincount(i); torch.histc(v,20); torch.searchsorted(srt,v);
torch.bucketize(v,srt); torch.isin(i,i[:5]); torch.combinations(v[:6]); torch.cartesian_prod(v[:4],v[:3]); torch.trapezoid(v); v.diff(); torch.quantile(m,0.3,dim=1); torch.randperm(2000,device=d).sort().values;
m.to_sparse().coalesce().to_dense(); grad(lambda t: F.embedding(idx,t).pow(2).sum(), m); grad(lambda t: F.conv2d(img,t).sum(), ker); grad(lambda t: F.layer_norm(t,(50,)).pow(2).sum(), m);
grad(lambda t: F.softmax(t,1).pow(2).sum(), m); grad(lambda t: (t@t.t()).sum(), m); grad(lambda t: t[idx].sum(), m); grad(lambda t: F.gelu(t).sum(), m)"""
ops = [o.strip() for o in OPS.replace("\n", " ").split("; ")]


def values(op, d):
    import torch
    import torch.nn.functional as F

    g = torch.Generator().manual_seed(1)

    def grad(f, t):
        t = t.clone().requires_grad_()
        f(t).backward()
        return t.grad

    make = lambda *s: torch.randn(*s, generator=g).to(d)
    ints = lambda n, *s: torch.randint(0, n, s, generator=g).to(d)
    names = dict(torch=torch, F=F, d=d, grad=grad, v=make(1000), m=make(20, 50), big=make(100000), img=make(1, 4, 12, 12), ker=make(3, 4, 3, 3), ker1=make(5, 20, 3),
                 i=ints(50, 1000), tgt=ints(50, 20), grid=make(1, 5, 5, 2).clamp(-1, 1), srt=torch.linspace(-2, 2, 30).to(d), idx=torch.randperm(20, generator=g)[:10].to(d))
    r = eval(op, names)
    return [t.detach().cpu() for t in (r if isinstance(r, (tuple, list)) else [r])]


def close(a, b):
    import torch

    return a.shape == b.shape and torch.allclose(a.double(), b.double(), 1e-3, 2e-4, equal_nan=True)


def child(first):
    for n in range(first, len(ops)):
        try:
            got, want = values(ops[n], "cuda"), values(ops[n], "cpu")
            # Of several places with the same value any is right: a sort's or a mode's second result.
            few = got[:1] if "sort" in ops[n] or "mode" in ops[n] or "median" in ops[n] or "topk" in ops[n] or "kthvalue" in ops[n] else got
            print(n, "right" if all(close(a, b) for a, b in zip(few, want)) else "wrong", flush=True)
        except Exception as e:
            text = str(e).split("\n")[0][:90]
            print(n, "error", text, flush=True)
            if "no kernel image" in text:
                return


if len(sys.argv) > 1:
    child(int(sys.argv[1]))
    os._exit(0)
first, count = 0, {"right": 0, "wrong": 0, "error": 0}
while first < len(ops):
    begin = first
    for line in subprocess.run([sys.executable, __file__, str(first)], stdout=subprocess.PIPE, text=True).stdout.splitlines():
        n, how, *note = line.split(" ", 2)
        count[how] += 1
        first = int(n) + 1
        if how != "right":
            print(f"{ops[int(n)]}: {how}", *note, flush=True)
    if first == begin:
        print(f"{ops[first]}: error the process ended", flush=True)
        count["error"] += 1
        first += 1
print(f"{len(ops)} operations: {count['right']} right, {count['error']} with an error, {count['wrong']} wrong", flush=True)
sys.exit(count["wrong"] > 0)
