package curand

import (
	"slices"
	"testing"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rand"
)

// TestPieces makes the numbers of one call again in calls of odd lengths, at addresses that no vector is aligned to: the kernels
// have ways of their own for whole rounds and for aligned memory.
func TestPieces(t *testing.T) {
	if err := start(); err != nil {
		t.Fatal(err)
	}
	const n = 3*65536*4 + 1001
	for _, kind := range []rand.CurandRngType_t{rand.CURAND_RNG_PSEUDO_PHILOX4_32_10, rand.CURAND_RNG_PSEUDO_XORWOW, rand.CURAND_RNG_PSEUDO_MRG32K3A} {
		whole := numbersOf(t, kind, []uint64{n})
		if got := numbersOf(t, kind, []uint64{1, 4099, 65536 * 4, n - 1 - 4099 - 65536*4 - 3, 3}); !slices.Equal(got, whole) {
			t.Errorf("generator %d: the numbers of pieces are others", kind)
		}
	}
}

// numbersOf makes calls of these lengths, one after another into one array that begins 4 bytes after an aligned address if there
// are several.
func numbersOf(t *testing.T, kind rand.CurandRngType_t, lengths []uint64) []uint32 {
	t.Helper()
	th := new(Thread)
	v, err := th.CreateGenerator(kind)
	if err != nil {
		t.Fatal(err)
	}
	h, d, sum := rand.CurandGenerator_t(v), th.driver(), uint64(0)
	defer th.DestroyGenerator(h)
	for _, n := range lengths {
		sum += n
	}
	at, err := d.TakeMemory(4*sum + 4)
	if err != nil {
		t.Fatal(err)
	}
	defer d.GiveMemory(at)
	from := at + driver.DevPtr(4*min(len(lengths)-1, 1))
	to := from
	for _, n := range lengths {
		if err := th.Generate(h, hostmem.Ptr(to), n); err != nil {
			t.Fatal(err)
		}
		to += driver.DevPtr(4 * n)
	}
	out := make([]uint32, sum)
	if err := d.MemcpyDtoH(hostmem.Of(&out[0]), from, 4*sum); err != nil {
		t.Fatal(err)
	}
	return out
}
