package interp

import (
	"time"

	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// special reads a special register. Those that a machine without a GPU cannot have (%pm, %envreg) read as zero, as they do
// outside the driver's own use.
func (d *decoder) special(o *ptx.Operand) func(t *thread) uint64 {
	e := int(max(o.Elem, 0))
	three := func(f func(t *thread) [3]uint32) func(t *thread) uint64 {
		if e >= 3 {
			return func(*thread) uint64 { return 0 } // .w
		}
		return func(t *thread) uint64 { return uint64(f(t)[e]) }
	}
	if fn := specials[o.SReg]; fn != nil {
		if o.SReg >= isa.SRegReservedSmemOffsetBegin && o.SReg <= isa.SRegReservedSmemOffset1 {
			d.u.reserved = true
		}
		return fn
	}
	if fn := specials3[o.SReg]; fn != nil {
		return three(fn)
	}
	switch o.SReg {
	case isa.SRegEnvreg0 + 1: // a cooperative launch's workspace, upper half first
		return func(t *thread) uint64 { return t.w.b.g.workspace >> 32 }
	case isa.SRegEnvreg0 + 2:
		return func(t *thread) uint64 { return t.w.b.g.workspace & 0xffffffff }
	}
	if o.SReg >= isa.SRegPm0 {
		return func(*thread) uint64 { return 0 }
	}
	d.unsupported(o.SReg.String())
	return nil
}

var specials3 = [isa.NumSRegs]func(t *thread) [3]uint32{
	isa.SRegTid:    func(t *thread) [3]uint32 { return t.tid },
	isa.SRegNtid:   func(t *thread) [3]uint32 { return t.w.b.g.l.Block },
	isa.SRegCtaid:  func(t *thread) [3]uint32 { return t.w.b.ctaid },
	isa.SRegNctaid: func(t *thread) [3]uint32 { return t.w.b.g.l.Grid },
	isa.SRegClusterid: func(t *thread) (v [3]uint32) {
		for i := range v {
			v[i] = t.w.b.ctaid[i] / t.w.b.g.cluster[i]
		}
		return v
	},
	isa.SRegNclusterid: func(t *thread) (v [3]uint32) {
		for i := range v {
			v[i] = t.w.b.g.l.Grid[i] / t.w.b.g.cluster[i]
		}
		return v
	},
	isa.SRegClusterCtaid: func(t *thread) (v [3]uint32) {
		for i := range v {
			v[i] = t.w.b.ctaid[i] % t.w.b.g.cluster[i]
		}
		return v
	},
	isa.SRegClusterNctaid: func(t *thread) [3]uint32 { return t.w.b.g.cluster },
}

var specials = [isa.NumSRegs]func(t *thread) uint64{
	isa.SRegLaneid:  func(t *thread) uint64 { return uint64(t.lane) },
	isa.SRegWarpid:  func(t *thread) uint64 { return uint64(t.w.index) },
	isa.SRegNwarpid: func(*thread) uint64 { return 64 },
	isa.SRegSmid:    func(t *thread) uint64 { return t.w.b.linear % uint64(t.w.b.g.env.processors) },
	isa.SRegNsmid:   func(t *thread) uint64 { return uint64(t.w.b.g.env.processors) },
	isa.SRegGridid:  func(t *thread) uint64 { return t.w.b.g.id },

	isa.SRegIsExplicitCluster:       func(t *thread) uint64 { return bit(t.w.b.g.l.Cluster != [3]uint32{}) },
	isa.SRegClusterCtarank:          func(t *thread) uint64 { return uint64(t.w.b.rank) },
	isa.SRegClusterNctarank:         func(t *thread) uint64 { return t.w.b.g.clusterSize() },
	isa.SRegLanemaskEq:              func(t *thread) uint64 { return 1 << t.lane },
	isa.SRegLanemaskLe:              func(t *thread) uint64 { return 2<<t.lane - 1 },
	isa.SRegLanemaskLt:              func(t *thread) uint64 { return 1<<t.lane - 1 },
	isa.SRegLanemaskGe:              func(t *thread) uint64 { return ^uint64(1<<t.lane-1) & 0xffffffff },
	isa.SRegLanemaskGt:              func(t *thread) uint64 { return ^uint64(2<<t.lane-1) & 0xffffffff },
	isa.SRegClock:                   func(*thread) uint64 { return nanos() & 0xffffffff },
	isa.SRegClockHi:                 func(*thread) uint64 { return nanos() >> 32 },
	isa.SRegClock64:                 func(*thread) uint64 { return nanos() },
	isa.SRegGlobaltimer:             func(*thread) uint64 { return uint64(time.Now().UnixNano()) },
	isa.SRegGlobaltimerLo:           func(*thread) uint64 { return uint64(time.Now().UnixNano()) & 0xffffffff },
	isa.SRegGlobaltimerHi:           func(*thread) uint64 { return uint64(time.Now().UnixNano()) >> 32 },
	isa.SRegTotalSmemSize:           func(t *thread) uint64 { return t.w.b.g.sharedTotal() },
	isa.SRegAggrSmemSize:            func(t *thread) uint64 { return t.w.b.g.sharedTotal() + reservedShared },
	isa.SRegDynamicSmemSize:         func(t *thread) uint64 { return uint64(t.w.b.g.l.DynamicShared) },
	isa.SRegCurrentGraphExec:        func(*thread) uint64 { return 0 },
	isa.SRegReservedSmemOffsetBegin: func(t *thread) uint64 { return t.w.b.g.sharedTotal() },
	isa.SRegReservedSmemOffsetEnd:   func(t *thread) uint64 { return t.w.b.g.sharedTotal() + reservedShared },
	isa.SRegReservedSmemOffsetCap:   func(*thread) uint64 { return reservedShared },
	isa.SRegReservedSmemOffset0:     func(t *thread) uint64 { return t.w.b.g.sharedTotal() },
	isa.SRegReservedSmemOffset1:     func(t *thread) uint64 { return t.w.b.g.sharedTotal() + reservedShared/2 },
}

var start = time.Now()

// nanos is the clock: one tick a nanosecond, never zero.
func nanos() uint64 { return uint64(time.Since(start)) + 1 }
