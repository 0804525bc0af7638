package lower

import (
	"fmt"
	"math"
	"math/bits"

	"kudzu/internal/ir"
	"kudzu/internal/softfloat"
)

// matrixOp evaluates an operation of a whole warp on fragments. All lanes must be there.
func matrixOp(in *ir.Inst, group []*thread) error {
	if len(group) != 32 {
		return fmt.Errorf("%v by %d lanes", in.Op, len(group))
	}
	switch in.Op {
	case ir.Mma:
		return evalMma(in, group)
	case ir.LdMatrix, ir.StMatrix:
		return evalTiles(in, group)
	case ir.MovMatrix:
		var m [8][8]uint64
		for l, t := range group {
			v := t.arg(in, 0)
			m[l/4][l%4*2], m[l/4][l%4*2+1] = v&0xffff, v>>16
		}
		for l, t := range group {
			t.vals[in.Results[0].ID] = m[l%4*2][l/4] | m[l%4*2+1][l/4]<<16
		}
	}
	return nil
}

// evalTiles is ldmatrix and stmatrix: row r of tile i is at the address of lane 8i+r.
func evalTiles(in *ir.Inst, group []*thread) error {
	for tile := range in.Mat.Num {
		for l, t := range group {
			for e := range 2 {
				row, col := l/4, l%4*2+e
				if in.Mat.Trans {
					row, col = col, row
				}
				b, err := t.memory(in.Space, group[8*tile+row].arg(in, 0)+uint64(2*col), 2)
				if err != nil {
					return err
				}
				if in.Op == ir.StMatrix {
					putBytes(b, t.arg(in, 1+tile)>>(16*e))
				} else if r := in.Results[tile].ID; e == 0 {
					t.vals[r] = getBytes(b)
				} else {
					t.vals[r] |= getBytes(b) << 16
				}
			}
		}
	}
	return nil
}

var elemBits = map[string]int{"b1": 1, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64}

// operandAt gives element (outer, k) of an operand whose registers begin at argument first.
func operandAt(in *ir.Inst, group []*thread, first, outers, outer, k int, elem string) uint64 {
	n := elemBits[elem]
	pack := max(32/n, 1)
	step := 4 * pack
	reg := k / step
	if outers == 16 {
		reg = 2*(k/step) + outer/8
	}
	lane := outer%8*4 + k%step/pack
	v := group[lane].arg(in, first+reg)
	return maskBits(v>>(n*(k%pack)), n)
}

func number(v uint64, elem string) float64 {
	switch elem {
	case "f16":
		return math.Float64frombits(softfloat.F16.Convert(softfloat.F64, v, softfloat.Env{}))
	case "bf16":
		return math.Float64frombits(softfloat.BF16.Convert(softfloat.F64, v, softfloat.Env{}))
	case "e4m3":
		return math.Float64frombits(softfloat.E4M3.Convert(softfloat.F64, v, softfloat.Env{}))
	case "e5m2":
		return math.Float64frombits(softfloat.E5M2.Convert(softfloat.F64, v, softfloat.Env{}))
	case "tf32":
		return float64(math.Float32frombits(uint32(v) &^ 0x1fff))
	case "f32":
		return float64(math.Float32frombits(uint32(v)))
	case "f64":
		return math.Float64frombits(v)
	case "s8", "s4", "s32":
		return float64(signed(v, elemBits[elem]))
	}
	return float64(v)
}

// evalMma multiplies exactly: the cases keep sums small.
func evalMma(in *ir.Inst, group []*thread) error {
	m := in.Mat
	regs := func(elems int, e string) int { return max(elems*elemBits[e]/32/max(32, elemBits[e]), 1) }
	na, nb := regs(m.M*m.K, m.A), regs(m.N*m.K, m.B)
	per := 1
	if m.C == "f16" {
		per = 2
	}
	dper := 1
	if m.D == "f16" {
		dper = 2
	}
	sum := make([][]float64, m.M)
	for r := range sum {
		sum[r] = make([]float64, m.N)
		for c := range sum[r] {
			lane, e := r%8*4+c/2, r/8*2+c%2
			v := group[lane].arg(in, na+nb+e/per)
			if per == 2 {
				v = v >> (16 * (e % 2)) & 0xffff
			}
			s := number(v, m.C)
			for k := range m.K {
				a, b := operandAt(in, group, 0, m.M, r, k, m.A), operandAt(in, group, na, m.N, c, k, m.B)
				switch m.Bit {
				case "and.popc":
					s += float64(bits.OnesCount64(a & b))
				case "xor.popc":
					s += float64(bits.OnesCount64(a ^ b))
				default:
					s += number(a, m.A) * number(b, m.B)
				}
			}
			sum[r][c] = s
		}
	}
	for lane, t := range group {
		for i := range in.Results {
			t.vals[in.Results[i].ID] = 0
		}
		for e := range m.M / 8 * 2 {
			s := sum[lane/4+e/2*8][lane%4*2+e%2]
			var v uint64
			switch m.D {
			case "f32":
				v = uint64(math.Float32bits(float32(s)))
				if math.IsNaN(s) {
					v = softfloat.F32.CanonicalNaN()
				}
			case "f64":
				v = math.Float64bits(s)
			case "f16":
				v = softfloat.F64.Convert(softfloat.F16, math.Float64bits(s), softfloat.Env{})
			default:
				if m.Sat {
					s = min(max(s, math.MinInt32), math.MaxInt32)
				}
				v = uint64(uint32(int64(s)))
			}
			t.vals[in.Results[e/dper].ID] |= v << (16 * (e % dper))
		}
	}
	return nil
}
