package gguf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"
)

// TestDeterministic: a seed gives the same bytes everywhere, and another one others.
func TestDeterministic(t *testing.T) {
	tiny := Shape{Name: "tiny", Vocab: 300, Embed: 256, Layers: 1, Heads: 4, KVHeads: 2, FeedForward: 256, Context: 64}
	sum := func(q *Quant, seed uint64) string {
		var b bytes.Buffer
		if err := Write(&b, tiny, q, seed); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, x := range tensors(tiny, q) {
			want += roundUp(x.bytes())
		}
		if b.Len() < want || b.Len() > want+32<<10 {
			t.Errorf("%s: %d bytes for %d of weights", q.Name, b.Len(), want)
		}
		h := sha256.Sum256(b.Bytes())
		return hex.EncodeToString(h[:4])
	}
	for i := range Quants {
		q := &Quants[i]
		if a, b := sum(q, 1), sum(q, 1); a != b {
			t.Errorf("%s: two files of one seed differ", q.Name)
		}
		if sum(q, 1) == sum(q, 2) {
			t.Errorf("%s: the seed does not matter", q.Name)
		}
	}
	q, _ := ByName("Q4_K")
	if got := sum(q, 7); got != "ffc89c49" {
		t.Errorf("Q4_K, seed 7: %s", got)
	}
}

func TestHalf(t *testing.T) {
	for bits := range uint16(0x7c00) {
		exp, frac := int(bits>>10), float64(bits&1023)
		v := math.Ldexp(1024+frac, exp-25)
		if exp == 0 {
			v = math.Ldexp(frac, -24)
		}
		if got := toHalf(v); got != bits {
			t.Fatalf("%g is %#x, got %#x", v, bits, got)
		}
		if got := toHalf(-v); got != bits|0x8000 {
			t.Fatalf("%g is %#x, got %#x", -v, bits|0x8000, got)
		}
	}
	for v, want := range map[float64]uint16{1 + 1.0/2048: 0x3c00, 1 + 3.0/2048: 0x3c02, 1e9: 0x7bff, 65519: 0x7bff, math.Ldexp(1, -25): 0} {
		if got := toHalf(v); got != want {
			t.Errorf("%g: %#x, want %#x", v, got, want)
		}
	}
}
