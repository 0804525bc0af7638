package lower

import (
	"strings"

	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// lowerBar lowers bar and barrier in all forms. A missing count is 0: all threads of the block.
func lowerBar(x *inst) {
	id, n := x.arg("a"), i32(0)
	aligned := x.opts.GPU && (x.Op() == isa.Bar || x.Has(isa.ModAligned))
	if x.has("b") {
		n = x.arg("b")
	}
	switch {
	case x.Has(isa.ModArrive):
		x.b.EmitN(ir.Bar, nil, ir.Attr{BarKind: ir.BarArrive, Aligned: aligned}, id, n)
	case x.Has(isa.ModRed):
		kind, t := ir.BarRedPopc, ir.I32
		switch x.Mod("op") {
		case isa.ModAnd:
			kind, t = ir.BarRedAnd, ir.I1
		case isa.ModOr:
			kind, t = ir.BarRedOr, ir.I1
		}
		x.result(x.b.Emit(ir.Bar, t, ir.Attr{BarKind: kind, Aligned: aligned}, id, n, x.arg("c")))
	default:
		x.b.EmitN(ir.Bar, nil, ir.Attr{BarKind: ir.BarSync, Aligned: aligned}, id, n)
	}
}

func lowerBarWarpSync(x *inst) { x.b.EmitN(ir.WarpSync, nil, ir.Attr{}, x.arg("membermask")) }

// lowerBarrierCluster: where a block is a cluster of its own, arriving is nothing and waiting is a barrier of the block. Else the
// runtime counts, and who waits looks whether the phase in which it arrived is over.
func lowerBarrierCluster(x *inst) {
	if x.alone() {
		if x.Has(isa.ModWait) {
			x.b.EmitN(ir.Bar, nil, ir.Attr{BarKind: ir.BarSync}, i32(0), i32(0))
		}
		return
	}
	if x.fr.real {
		x.fail("%s in a function that is called", x.spelling())
	}
	if !x.Has(isa.ModWait) {
		x.write(x.clusterVar, x.clusterCall(image.ClusterArrive))
		return
	}
	at, phase := x.clusterCall(image.ClusterPhase), x.read(x.clusterVar)
	head, out := x.newBlock(""), x.newBlock("")
	x.br(head)
	x.b.Block = head
	now := x.b.Emit(ir.Load, ir.I64, ir.Attr{Space: ir.Global, Volatile: true, Align: 8}, at)
	x.condBr(x.icmp(ir.EQ, now, phase), head, out, false)
	x.seal(head)
	x.seal(out)
	x.b.Block = out
}

func (l *lowerer) clusterCall(what int64) *ir.Value {
	return l.b.Emit(ir.CallRt, ir.I64, ir.Attr{Entry: image.RtCluster, Sym: "cluster"}, i32(what))
}

// ends tells the cluster that a thread is over. One that comes back from a function that is compiled by itself is not.
func (l *lowerer) ends() {
	if l.opts.Clusters && !strings.HasPrefix(l.out.Kernel, ptx.LazyEntry) {
		l.clusterCall(image.ClusterExit)
	}
	l.stop(ir.Exit, ir.Attr{})
}

func lowerMembar(x *inst) {
	if x.Has(isa.ModProxy) {
		return // one kind of memory, no proxies
	}
	x.b.EmitN(ir.Fence, nil, ir.Attr{Order: ir.SeqCst, Scope: memScopes[x.Mod("level")]})
}

func lowerFence(x *inst) {
	if x.Has(isa.ModProxy) {
		return
	}
	attr := ir.Attr{Order: ir.AcqRel, Scope: memScopes[x.Mod("scope")]}
	if o, ok := orders[x.Mod("sem")]; ok {
		attr.Order = o
	}
	if attr.Scope == ir.ScopeNone {
		attr.Scope = ir.ScopeCluster // the forms that spell .cluster themselves
	}
	x.b.EmitN(ir.Fence, nil, attr)
}
