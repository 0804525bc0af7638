package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestTextureWarp: what is fetched for a warp in vector instructions is what is fetched lane by lane, to the bit, for all formats, filters
// and address modes that have them, and at coordinates of every kind.
func TestTextureWarp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	mem := make([]byte, 40<<10)
	taken, tried := 0, 0
	for n := range 2400 {
		tex := randomTexture(r, n)
		fill(r, mem, tex.Format, n%5 == 0)
		tex.Base[0] = addressOf(mem[64-int(addressOf(mem)%64):])
		op := uint32(tex.Dims-1) << 4
		if tex.Memory != 0 {
			op |= 1 << 8
		}
		h := uint64(3<<TextureSlotBits | 5)
		err := NewTexture(h, &tex)
		if err != nil {
			t.Fatal(err)
		}
		args := coordinates(r, &tex, n)
		mask := r.Uint32() | 1
		if n%2 == 0 {
			mask = ^uint32(0)
		}
		for level := range uint32(3) {
			got, want, done := warpFetch(h, level, op, mask, &args)
			tried++
			if !done {
				continue
			}
			taken++
			if lane, c, ok := sameLanes(mask, &got, &want); !ok {
				t.Fatalf("case %d, level %d, lane %d at %#x, %#x: channel %d is %#x, lane by lane %#x\n%s", n, level, lane,
					args[0][lane], args[1][lane], c, got[c][lane], want[c][lane], describe(&tex))
			}
		}
		err = FreeTexture(h)
		if err != nil {
			t.Fatal(err)
		}
	}
	if taken < tried*8/10 {
		t.Errorf("%d of %d fetches were vector instructions", taken, tried)
	}
}

// TestTextureTold: what the compiler knows of a fetch's lanes changes no result that is read.
func TestTextureTold(t *testing.T) {
	const oneHandle, oneRow, oneResult = 1 << 27, 1 << 28, 1 << 29
	r := rand.New(rand.NewPCG(3, 4))
	mem := make([]byte, 40<<10)
	for n := range 2400 {
		tex := randomTexture(r, n)
		fill(r, mem, tex.Format, n%5 == 0)
		tex.Base[0] = addressOf(mem[64-int(addressOf(mem)%64):])
		op := uint32(tex.Dims-1) << 4
		if tex.Memory != 0 {
			op |= 1 << 8
		}
		h := uint64(3<<TextureSlotBits | 5)
		err := NewTexture(h, &tex)
		if err != nil {
			t.Fatal(err)
		}
		args := coordinates(r, &tex, n)
		mask, told := r.Uint32()|1<<r.IntN(32), uint32(oneHandle)
		switch {
		case n%2 == 0:
			mask = ^uint32(0)
		case n%16 == 1:
			mask &= 0xffff0000
		}
		if n%3 > 0 {
			told |= oneRow
			for i := range args[1] {
				args[1][i] = args[1][0]
			}
		}
		if n%7 > 2 {
			told |= oneResult
		}
		want, stop := toldFetch(h, op, mask, &args)
		got, stop2 := toldFetch(h, op|told, mask, &args)
		if told&oneResult != 0 {
			for c := 1; c < 4; c++ {
				got[c], want[c] = [32]uint32{}, [32]uint32{}
			}
		}
		if lane, c, ok := sameLanes(mask, &got, &want); !ok || stop != stop2 {
			t.Fatalf("case %d, told %#x, lane %d at %#x, %#x: channel %d is %#x, not told %#x (stops %#x and %#x)\n%s", n, told, lane, args[0][lane],
				args[1][lane], c, got[c][lane], want[c][lane], stop2, stop, describe(&tex))
		}
		err = FreeTexture(h)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func describe(t *Texture) string {
	return fmt.Sprintf("%dD format %d channels %d memory %d linear %d normalized %d integers %d address %v size %d x %d", t.Dims, t.Format,
		t.Channels, t.Memory, t.Linear, t.Normalized, t.Integers, t.Address, t.Width[0], t.Height[0])
}

func sameLanes(mask uint32, got, want *[4][32]uint32) (lane, channel int, ok bool) {
	for lane := range 32 {
		for c := range 4 {
			if mask>>lane&1 != 0 && got[c][lane] != want[c][lane] {
				return lane, c, false
			}
		}
	}
	return 0, 0, true
}

func randomTexture(r *rand.Rand, n int) Texture {
	size := []int{1, 2, 4, 1, 2, 4, 2, 4}
	t := Texture{Kind: 1, Dims: uint8(1 + r.IntN(2)), Levels: 1, Format: uint8(n % 8), Channels: 1 << r.IntN(3), Linear: uint8(r.IntN(2)), Normalized: uint8(r.IntN(2))}
	if t.Format == 2 || t.Format == 5 || (t.Format < 6 && r.IntN(3) == 0) {
		t.Integers, t.Linear = 1, 0
	}
	for i := range t.Address {
		t.Address[i] = uint8(r.IntN(4))
		t.Border[i] = float32(r.NormFloat64())
	}
	t.Width[0], t.Height[0] = uint32(1+r.IntN(70)), uint32(1+r.IntN(30))
	elem := size[t.Format] * int(t.Channels)
	t.Pitch[0] = uint64(int(t.Width[0])*elem+31) &^ 31
	if t.Dims == 1 {
		t.Height[0] = 0
		if r.IntN(3) == 0 {
			t.Memory = 1
		}
	}
	return t
}

// fill writes numbers that differ in size, and, where odd, any bits at all.
func fill(r *rand.Rand, mem []byte, format uint8, odd bool) {
	for i := 0; i+8 <= len(mem); i += 8 {
		binary.LittleEndian.PutUint64(mem[i:], r.Uint64())
	}
	if odd || format < 6 {
		return
	}
	for i := 0; i+4 <= len(mem); i += 4 {
		if format == 6 {
			mem[i+1] &= 0xbb // no exponent of ones
			mem[i+3] &= 0xbb
			continue
		}
		v := math.Float32bits(float32(r.NormFloat64()) * float32(math.Ldexp(1, r.IntN(20)-10)))
		if r.IntN(50) == 0 {
			v = v&0x80ffffff | uint32(r.IntN(2))<<23 // near the least there are
		}
		binary.LittleEndian.PutUint32(mem[i:], v)
	}
}

func coordinates(r *rand.Rand, t *Texture, n int) [2][32]uint32 {
	var a [2][32]uint32
	sides := [2]float64{float64(t.Width[0]), float64(max(1, t.Height[0]))}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30, -1e30, 1e-40, -1e-40, 3e9, -0.5, 0.5, 0}
	for d := range a {
		from, step := r.Float64()*sides[d], r.Float64()*2 // a line in the picture, as where it is turned or scaled
		if d == 1 && r.IntN(2) == 0 {
			step = 0
		}
		for lane := range a[d] {
			x := r.Float64()*sides[d]*1.4 - 0.2*sides[d]
			if n%5 < 2 {
				x = from + float64(lane)*step
			}
			switch {
			case n%3 == 0:
				x = math.Floor(x) + 0.5
			case r.IntN(6) == 0:
				x = math.Floor(x*512) / 512
			}
			if t.Normalized != 0 {
				x /= sides[d]
			}
			if n%7 == 0 && r.IntN(8) == 0 {
				x = odd[r.IntN(len(odd))]
			}
			a[d][lane] = math.Float32bits(float32(x))
			if t.Memory != 0 {
				a[d][lane] = uint32(int32(r.IntN(int(t.Width[0])+8) - 4))
			}
		}
	}
	return a
}
