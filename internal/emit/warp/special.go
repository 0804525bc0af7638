package warp

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// sreg computes a special register at the start of the warp.
func (e *emitter) sreg(in *ir.Inst) *rep {
	c, o := &e.ctx, e.Func
	one := func(x ll.Val) *rep { return &rep{scalar: x} }
	launch := func(off int) *rep { return one(e.load("i32", c.launch, off, invariant)) }
	s := in.Sreg
	switch s {
	case ir.TidX, ir.TidY, ir.TidZ:
		return e.tid(in)
	case ir.NtidX, ir.NtidY, ir.NtidZ:
		return one(c.block[s-ir.NtidX])
	case ir.CtaidX, ir.CtaidY, ir.CtaidZ:
		return one(c.ctaid[s-ir.CtaidX])
	case ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		return one(c.grid[s-ir.NctaidX])
	case ir.LaneID:
		if e.w == 1 {
			return one(o.And(c.first, c.first.Int(31)))
		}
		return one(ll.Int("i32", 0))
	case ir.WarpID:
		return one(o.LShr(c.first, c.first.Int(5)))
	case ir.NWarpID:
		return one(o.LShr(o.Add(c.threads, c.threads.Int(31)), ll.Int("i32", 5)))
	case ir.SMID:
		return one(e.load("i32", c.worker, image.WorkerID, invariant))
	case ir.BlockTurn:
		return one(e.load("i32", c.worker, image.WorkerTurn, invariant))
	case ir.NSMID:
		return one(ll.Int("i32", 1))
	case ir.GridID:
		return one(e.load("i64", c.launch, image.LaunchGridID, invariant))
	case ir.LanemaskEQ, ir.LanemaskLE, ir.LanemaskLT, ir.LanemaskGE, ir.LanemaskGT:
		return e.lanemask(s)
	case ir.DynamicSmem:
		return launch(image.LaunchSharedDynamic)
	case ir.EnvReg1:
		return launch(image.LaunchWorkspace + 4)
	case ir.EnvReg2:
		return launch(image.LaunchWorkspace)
	case ir.TotalSmem:
		return launch(image.LaunchSharedTotal)
	case ir.ClusterIDX, ir.ClusterIDY, ir.ClusterIDZ, ir.NClusterIDX, ir.NClusterIDY, ir.NClusterIDZ, ir.ClusterCtaIDX, ir.ClusterCtaIDY, ir.ClusterCtaIDZ,
		ir.ClusterCtaRank, ir.ClusterNctaIDX, ir.ClusterNctaIDY, ir.ClusterNctaIDZ, ir.ClusterNctaRank, ir.IsExplicitCluster:
		if e.m.Clusters {
			return one(e.clusterReg(s))
		}
	}
	switch s { // a cluster is one block
	case ir.ClusterIDX, ir.ClusterIDY, ir.ClusterIDZ:
		return one(c.ctaid[s-ir.ClusterIDX])
	case ir.NClusterIDX, ir.NClusterIDY, ir.NClusterIDZ:
		return one(c.grid[s-ir.NClusterIDX])
	case ir.ClusterCtaIDX, ir.ClusterCtaIDY, ir.ClusterCtaIDZ, ir.ClusterCtaRank, ir.IsExplicitCluster:
		return one(ll.Int("i32", 0))
	case ir.ClusterNctaIDX, ir.ClusterNctaIDY, ir.ClusterNctaIDZ, ir.ClusterNctaRank:
		return one(ll.Int("i32", 1))
	}
	e.unsupported("special register %s", in.Sreg)
	return nil
}

// clusterReg is a special register of a launch in clusters.
func (e *emitter) clusterReg(s ir.SpecialReg) ll.Val {
	c := &e.ctx
	dim := func(i ir.SpecialReg) ll.Val { return e.load("i32", c.launch, image.LaunchCluster+4*int(i), invariant) }
	in := func(i ir.SpecialReg) ll.Val { return e.URem(c.ctaid[i], dim(i)) }
	switch {
	case s >= ir.ClusterIDX && s <= ir.ClusterIDZ:
		return e.UDiv(c.ctaid[s-ir.ClusterIDX], dim(s-ir.ClusterIDX))
	case s >= ir.NClusterIDX && s <= ir.NClusterIDZ:
		return e.UDiv(c.grid[s-ir.NClusterIDX], dim(s-ir.NClusterIDX))
	case s >= ir.ClusterCtaIDX && s <= ir.ClusterCtaIDZ:
		return in(s - ir.ClusterCtaIDX)
	case s >= ir.ClusterNctaIDX && s <= ir.ClusterNctaIDZ:
		return dim(s - ir.ClusterNctaIDX)
	case s == ir.ClusterCtaRank:
		return e.Add(in(0), e.Mul(dim(0), e.Add(in(1), e.Mul(dim(1), in(2)))))
	case s == ir.ClusterNctaRank:
		return e.Mul(dim(0), e.Mul(dim(1), dim(2)))
	}
	return ll.Int("i32", 1) // %is_explicit_cluster
}

func (e *emitter) lanemask(s ir.SpecialReg) *rep {
	value := func(l int) int64 {
		bit := uint32(1) << l
		var m uint32
		switch s {
		case ir.LanemaskEQ:
			m = bit
		case ir.LanemaskLE:
			m = bit | (bit - 1)
		case ir.LanemaskLT:
			m = bit - 1
		case ir.LanemaskGE:
			m = ^(bit - 1)
		case ir.LanemaskGT:
			m = ^(bit | (bit - 1))
		}
		return int64(int32(m))
	}
	if e.w == 1 {
		bit := e.Shl(ll.Int("i32", 1), e.And(e.ctx.first, ll.Int("i32", 31)))
		below := e.Sub(bit, ll.Int("i32", 1))
		x := bit
		switch s {
		case ir.LanemaskLE:
			x = e.Or(bit, below)
		case ir.LanemaskLT:
			x = below
		case ir.LanemaskGE:
			x = e.Not(below)
		case ir.LanemaskGT:
			x = e.Not(e.Or(bit, below))
		}
		return &rep{scalar: x}
	}
	elems := make([]int64, e.w)
	for l := range elems {
		elems[l] = value(l)
	}
	return &rep{vec: ll.ConstVec("i32", elems)}
}

// tid is a thread index in the shape that the analysis gave it.
func (e *emitter) tid(in *ir.Inst) *rep {
	c := &e.ctx
	n := e.cfg.Block
	dim := int(in.Sreg - ir.TidX)
	shape := in.Results[0].Shape
	if n != [3]uint32{} {
		x, xy := int64(n[0]), int64(n[0])*int64(n[1])
		part := func(t ll.Val) ll.Val {
			switch dim {
			case 0:
				if xy*int64(n[2]) == x {
					return t
				}
				return e.URem(t, t.Int(x))
			case 1:
				return e.URem(e.UDiv(t, t.Int(x)), t.Int(int64(n[1])))
			}
			return e.UDiv(t, t.Int(xy))
		}
		if shape.Kind >= ir.Affine {
			return &rep{scalar: part(c.first)}
		}
		lanes := e.iota("i32")
		return &rep{vec: part(e.Add(e.splat(c.first), lanes))}
	}
	// Any shape: divide by multiplying. With at most 1024 threads 2^20 is enough for exact quotients.
	t := c.first
	if e.w > 1 {
		lanes := e.iota("i32")
		t = e.Add(e.splat(c.first), lanes)
	}
	width, _ := t.T.Split()
	inverse := func(d ll.Val) ll.Val {
		q := e.UDiv(ll.Int("i32", 1<<20-1), d)
		return e.splatN(e.Add(q, ll.Int("i32", 1)), width)
	}
	div := func(a, inv ll.Val) ll.Val { return e.LShr(e.Mul(a, inv), a.Int(20)) }
	row := div(t, inverse(c.block[0]))
	var r ll.Val
	switch dim {
	case 0:
		r = e.Sub(t, e.Mul(row, e.splatN(c.block[0], width)))
	case 1:
		z := div(row, inverse(c.block[1]))
		r = e.Sub(row, e.Mul(z, e.splatN(c.block[1], width)))
	default:
		r = div(row, inverse(c.block[1]))
	}
	if width == 1 {
		return &rep{scalar: r}
	}
	return &rep{vec: r}
}
