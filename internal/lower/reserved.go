package lower

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx/isa"
)

// The system's part of shared memory, of which cooperative groups have the barriers of tiles of several warps. Nothing of ours is in it.

// inReserved reports registers that say where it is.
func inReserved(r isa.SReg) bool {
	return r >= isa.SRegReservedSmemOffsetBegin && r <= isa.SRegReservedSmemOffset1
}

// sharedTotal is the program's own shared memory, in the hardware's pieces.
func (l *lowerer) sharedTotal() *ir.Value {
	n := l.b.Emit(ir.SReg, ir.I32, ir.Attr{Sreg: ir.TotalSmem})
	if l.plan.reserved {
		return l.op(ir.Sub, n, i32(image.SharedReserved))
	}
	return l.op(ir.And, l.op(ir.Add, n, i32(image.SharedUnit-1)), i32(-image.SharedUnit))
}

// reservedOffset is the value of such a register. What programs may use begins at _1; _0 is the system's.
func (l *lowerer) reservedOffset(r isa.SReg) *ir.Value {
	switch r {
	case isa.SRegReservedSmemOffsetEnd:
		return l.op(ir.Add, l.sharedTotal(), i32(image.SharedReserved))
	case isa.SRegReservedSmemOffsetCap:
		return i32(image.SharedReserved)
	case isa.SRegReservedSmemOffset1:
		return l.op(ir.Add, l.sharedTotal(), i32(image.SharedReserved/2))
	}
	return l.sharedTotal()
}
