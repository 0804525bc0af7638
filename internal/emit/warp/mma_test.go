package warp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// element reads element i of a register of kind kd's operands as a number.
func (kd mmaKind) element(v uint32, i int) float64 {
	switch kd.name {
	case "f16", "f16acc":
		return halfValue(uint16(v >> (16 * i)))
	case "bf16":
		return float64(math.Float32frombits(v >> (16 * i) << 16))
	case "tf32":
		return float64(math.Float32frombits(v &^ 0x1fff))
	case "s8", "u8":
		return float64(int8(v >> (8 * i)))
	}
	return float64(int8(v>>(4*i)<<4) >> 4)
}

// halfValue is enough for small integers: no subnormals, infinities or NaNs.
func halfValue(h uint16) float64 {
	if h&0x7fff == 0 {
		return 0
	}
	v := math.Ldexp(float64(h&0x3ff|0x400), int(h>>10&31)-25)
	if h>>15 != 0 {
		return -v
	}
	return v
}

// register makes a random one with small integers.
func (kd mmaKind) register(r *rand.Rand) uint32 {
	half := [...]uint16{0, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4200, 0xc200}
	bf := [...]uint16{0, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4040, 0xc040}
	switch kd.name {
	case "f16", "f16acc":
		return uint32(half[r.IntN(7)]) | uint32(half[r.IntN(7)])<<16
	case "bf16":
		return uint32(bf[r.IntN(7)]) | uint32(bf[r.IntN(7)])<<16
	case "tf32":
		return uint32(bf[r.IntN(7)]) << 16
	}
	return r.Uint32()
}

// TestMma compares products of tiles with the definition: one product, more operands than are kept prepared, and
// several turns of the loop, for this machine and for one without AVX-512.
func TestMma(t *testing.T) {
	for _, features := range []string{"", "avx2"} {
		for _, kd := range mmaKinds {
			for _, tile := range [][2]int{{1, 1}, {2, 3}, {1, 20}} {
				t.Run(fmt.Sprintf("%s%s/%dx%d", features, kd.name, tile[0], tile[1]), func(t *testing.T) {
					if tile[1] == 20 && kd.name != "f16" && kd.name != "s8" {
						t.Skip("two kinds are enough")
					}
					checkMma(t, kd, tile[0], tile[1], features)
				})
			}
		}
	}
}

func checkMma(t *testing.T, kd mmaKind, mt, nt int, features string) {
	const iters = 2
	r := rand.New(rand.NewPCG(1, 2))
	ab := make([]uint32, 32*(mt*kd.na+nt*kd.nb))
	for i := range ab {
		ab[i] = kd.register(r)
	}
	out := make([]uint32, 32*mt*nt*kd.nc)
	k := compile(t, fromPTX(t, mmaLoop(kd, mt, nt), "k"), [3]uint32{32, 1, 1}, features)
	k.launch(t, [3]uint32{1, 1, 1}, [3]uint32{32, 1, 1}, 0, ab, out, uint32(iters))
	pack := kd.k / (2 * kd.na) // elements of a register: na registers are 2 × k/(4 pack)
	a := func(tile, row, k int) float64 {
		s, lane := k/(4*pack), row%8*4+k/pack%4
		v := ab[32*(tile*kd.na+2*s+row/8)+lane]
		if kd.name == "u8" {
			return float64(uint8(v >> (8 * (k % pack))))
		}
		return kd.element(v, k%pack)
	}
	b := func(tile, k, col int) float64 {
		return kd.element(ab[32*(mt*kd.na+tile*kd.nb+k/(4*pack))+col*4+k/pack%4], k%pack)
	}
	for i := range mt {
		for j := range nt {
			for row := range 16 {
				for col := range 8 {
					want := 0.0
					for k := range kd.k {
						want += iters * a(i, row, k) * b(j, k, col)
					}
					reg, lane := row/8*2+col%2, row%8*4+col/2
					at := 32 * ((i*nt + j) * kd.nc)
					var got float64
					switch {
					case kd.float:
						got = float64(math.Float32frombits(out[at+32*reg+lane]))
					case kd.name == "f16acc":
						got = halfValue(uint16(out[at+32*(reg/2)+lane] >> (16 * (reg % 2))))
					default:
						got = float64(int32(out[at+32*reg+lane]))
					}
					if got != want {
						t.Fatalf("tile %d,%d element %d,%d is %v, want %v", i, j, row, col, got, want)
					}
				}
			}
		}
	}
}
