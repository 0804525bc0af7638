package lower

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

func lowerBra(x *inst) {
	to := x.fr.blocks[x.fr.start[x.fr.body.Labels[x.Args[0].Label].Inst]].ir
	if x.Pred < 0 {
		x.br(to)
		return
	}
	next := x.fr.blocks[x.fr.start[x.fr.at+1]].ir
	yes, no := to, next
	if x.Not {
		yes, no = no, yes
	}
	x.condBr(x.read(x.fr.regs[x.Pred]), yes, no, x.Has(isa.ModUni))
}

func lowerBrx(x *inst) {
	var to []*ir.Block
	for _, lb := range x.fr.body.Tables[x.Args[1].Table].Labels {
		b := x.fr.blocks[x.fr.start[x.fr.body.Labels[lb].Inst]].ir
		x.edge(x.b.Block, b)
		to = append(to, b)
	}
	idx := x.value(&x.Args[0], isa.U32)
	x.b.Terminate(ir.Switch, ir.Attr{}, []*ir.Value{idx}, to...)
	x.b.Block = nil
}

func lowerRet(x *inst) { x.leave(x.fr) }

func lowerExit(x *inst) { x.ends() }

func lowerTrap(x *inst) { x.stop(ir.Trap, ir.Attr{Stop: image.StopTrap}) }

func lowerNanosleep(x *inst) {
	x.b.EmitN(ir.CallRt, nil, ir.Attr{Entry: image.RtNanosleep, Sym: "nanosleep"}, x.arg("a"))
}

// lowerNothing is for hints: performance events, register budgets, prefetch policies.
func lowerNothing(*inst) {}
