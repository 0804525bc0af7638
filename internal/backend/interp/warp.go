package interp

import (
	"math/bits"

	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// keep stores one operand and one destination for a *.sync instruction.
func keep(dst, second int32, a operand) func(t *thread) {
	return func(t *thread) {
		t.syncArg[0] = a.get(t)
		t.syncDst = [2]int32{dst, second}
	}
}

// decodeVote is vote and vote.sync.
func decodeVote(d *decoder) step {
	var result func(yes, members uint32) uint64
	switch d.in.Mod("mode") {
	case isa.ModAll:
		result = func(yes, members uint32) uint64 { return bit(yes == members) }
	case isa.ModAny:
		result = func(yes, _ uint32) uint64 { return bit(yes != 0) }
	case isa.ModUni:
		result = func(yes, members uint32) uint64 { return bit(yes == 0 || yes == members) }
	case isa.ModBallot:
		result = func(yes, _ uint32) uint64 { return uint64(yes) }
	default:
		d.bad("%s", d.spelling())
	}
	return d.converge(keep(d.dst("d"), 0, d.src("a")), func(w *warp, members uint32) {
		var yes uint32
		w.eachQuiet(members, func(t *thread) { yes |= uint32(t.syncArg[0]) << t.lane })
		v := result(yes, members)
		w.eachQuiet(members, func(t *thread) { t.r[t.syncDst[0]] = v })
	})
}

// decodeMatch finds the threads with the same value.
func decodeMatch(d *decoder) step {
	dst, p := d.pair("d")
	all := d.in.Mod("mode") == isa.ModAll
	return d.converge(keep(dst, p, d.src("a")), func(w *warp, members uint32) {
		w.eachQuiet(members, func(t *thread) {
			var same uint32
			w.eachQuiet(members, func(o *thread) { same |= uint32(bit(o.syncArg[0] == t.syncArg[0])) << o.lane })
			if all {
				t.r[t.syncDst[1]] = bit(same == members)
				if same != members {
					same = 0
				}
			}
			t.r[t.syncDst[0]] = uint64(same)
		})
	})
}

// decodeActivemask is the threads that are here together.
func decodeActivemask(d *decoder) step {
	dst := d.dst("d")
	return step{warp: func(w *warp, active uint32) {
		w.each(active, func(t *thread) { t.r[dst] = uint64(active) })
	}}
}

// decodeRedux reduces over the members.
func decodeRedux(d *decoder) step {
	t := d.typ()
	var op func(a, b uint64) uint64
	if t == isa.F32 {
		m := softfloat.MinMax{NaN: d.has(isa.ModNaN)}
		abs, least := d.has(isa.ModAbs), d.in.Mod("op") == isa.ModMin
		op = func(a, b uint64) uint64 {
			if abs {
				a, b = softfloat.F32.Abs(a), softfloat.F32.Abs(b)
			}
			if least {
				return softfloat.F32.Min(a, b, m)
			}
			return softfloat.F32.Max(a, b, m)
		}
	} else {
		f := d.atomicOf(d.in.Mod("op"), t)
		op = func(a, b uint64) uint64 { return f(a, b, 0, true) }
	}
	single := d.has(isa.ModAbs)
	return d.converge(keep(d.dst("d"), 0, d.src("a")), func(w *warp, members uint32) {
		var v uint64
		first := true
		w.eachQuiet(members, func(t *thread) {
			if first {
				v, first = t.syncArg[0], false
				if single {
					v = softfloat.F32.Abs(v)
				}
				return
			}
			v = op(v, t.syncArg[0])
		})
		w.eachQuiet(members, func(t *thread) { t.r[t.syncDst[0]] = v })
	})
}

// decodeElect elects the lowest member, as recorded; the manual leaves it open.
func decodeElect(d *decoder) step {
	dst, p := d.pair("d")
	return d.converge(keep(dst, p, constant(0)), func(w *warp, members uint32) {
		leader := bits.TrailingZeros32(members)
		w.eachQuiet(members, func(t *thread) {
			t.r[t.syncDst[0]] = uint64(leader)
			t.r[t.syncDst[1]] = bit(int(t.lane) == leader)
		})
	})
}
