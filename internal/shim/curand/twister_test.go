package curand

import "testing"

// TestJump compares words found by a polynomial with words made one by one.
func TestJump(t *testing.T) {
	state := twisterState(42)
	words := append(make([]uint32, 0, 1<<17), state[:]...)
	for i := 0; len(words) < cap(words); i++ {
		y := words[i]&0x80000000 | words[i+1]&0x7fffffff
		words = append(words, words[i+twisterShift]^y>>1^0x9908b0df&-(y&1))
	}
	p := polynomial{2}
	for k := range 17 {
		for i := range 5 {
			sum := uint32(0)
			for _, at := range p.places() {
				sum ^= words[i+int(at)]
			}
			if want := words[i+1<<k]; sum != want {
				t.Errorf("2^%d numbers on, word %d: %#x, want %#x", k, i, sum, want)
			}
		}
		p = p.squared()
	}
}
