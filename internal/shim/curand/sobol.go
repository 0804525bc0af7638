package curand

import (
	_ "embed" // direction numbers
	"math/bits"
	"sync"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/rand"
)

const maxDimensions = 20000

// joekuo has the direction numbers of S. Joe and F. Kuo (new-joe-kuo-6), packed, the lowest bit first: of each dimension after the
// first the primitive polynomial without its last 1, in 18 bits, then all initial numbers but the first, which are odd, without
// their last bit: the one at i in i bits.
//
//go:embed joekuo.bin
var joekuo []byte

// packedBits reads them.
type packedBits struct {
	data []byte
	at   uint
}

func (b *packedBits) take(n int) (v uint64) {
	for i := range n {
		v |= uint64(b.data[b.at>>3]>>(b.at&7)&1) << i
		b.at++
	}
	return v
}

// directions are the vectors of all dimensions, width of each.
func directions(width int) []uint64 {
	all := make([]uint64, 0, maxDimensions*width)
	for i := range width {
		all = append(all, 1<<(width-1-i))
	}
	r := packedBits{data: joekuo}
	m := make([]uint64, width)
	for range maxDimensions - 1 {
		poly := r.take(18)<<1 | 1
		degree := bits.Len64(poly) - 1
		m[0] = 1
		for i := 1; i < degree; i++ {
			m[i] = r.take(i)<<1 | 1
		}
		for i := degree; i < width; i++ {
			v := m[i-degree] ^ m[i-degree]<<degree
			for k := 1; k < degree; k++ {
				if poly>>(degree-k)&1 != 0 {
					v ^= m[i-k] << k
				}
			}
			m[i] = v
		}
		for i, v := range m {
			all = append(all, v<<(width-1-i))
		}
	}
	return all
}

// hash is a well-mixed function of a number (splitmix64's finish), the origin of our scrambles.
func hash(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// scrambled are direction vectors times a lower triangular matrix with ones on its diagonal, one a dimension, so that points stay a
// (t, s)-sequence. cuRAND's own matrices and constants are not published: these are ours.
func scrambled(width int) []uint64 {
	all := directions(width)
	for dim := range maxDimensions {
		var columns [64]uint64 // of the bit of each weight, the highest first
		for i := range width {
			top := uint64(1) << (width - 1 - i)
			columns[i] = top | hash(uint64(dim)<<8|uint64(i))>>(64-width)&(top-1)
		}
		for k, v := range all[dim*width : (dim+1)*width] {
			r := uint64(0)
			for i := range width {
				if v>>(width-1-i)&1 != 0 {
					r ^= columns[i]
				}
			}
			all[dim*width+k] = r
		}
	}
	return all
}

// constants are the scramble constants of all dimensions.
func constants(width int) []uint64 {
	all := make([]uint64, maxDimensions)
	for dim := range all {
		all[dim] = hash(1<<40|uint64(dim)) >> (64 - width)
	}
	return all
}

// narrowed is the list as it lies in memory.
func narrowed(all []uint64, width int) []byte {
	out := make([]byte, 0, len(all)*width/8)
	for _, v := range all {
		for i := range width / 8 {
			out = append(out, byte(v>>(8*i)))
		}
	}
	return out
}

// tables are the lists as bytes, made when first asked for. They stay: programs are given their addresses.
var tables = map[bool]map[int]func() []byte{}
var constantTables = map[int]func() []byte{}

func init() {
	for _, scramble := range []bool{false, true} {
		tables[scramble] = map[int]func() []byte{}
		for _, width := range []int{32, 64} {
			tables[scramble][width] = sync.OnceValue(func() []byte {
				if scramble {
					return narrowed(scrambled(width), width)
				}
				return narrowed(directions(width), width)
			})
		}
	}
	for _, width := range []int{32, 64} {
		constantTables[width] = sync.OnceValue(func() []byte { return narrowed(constants(width), width) })
	}
}

// sobol makes points of a number of dimensions.
type sobol struct {
	width    int
	scramble bool
	vectors  driver.DevPtr // the vectors of the dimensions, then their constants
}

func newSobol(width int, scramble bool) func(*generator) source {
	return func(*generator) source { return &sobol{width: width, scramble: scramble} }
}

func (s *sobol) load(d *driver.Thread, dims uint64) (err error) {
	n, c := dims*uint64(s.width)*uint64(s.width/8), dims*uint64(s.width/8)
	if s.vectors, err = d.TakeMemory(n + c); err != nil {
		return err
	}
	if err := d.MemcpyHtoD(s.vectors, hostmem.Of(&tables[s.scramble][s.width]()[0]), n); err != nil || !s.scramble {
		return err
	}
	return d.MemcpyHtoD(s.vectors+driver.DevPtr(n), hostmem.Of(&constantTables[s.width]()[0]), c)
}

func (s *sobol) generate(d *driver.Thread, g *generator, r *request) error {
	dims := uint64(g.dims)
	if s.vectors == 0 {
		if err := s.load(d, dims); err != nil {
			return err
		}
	}
	if r.n == 0 {
		return nil
	}
	scramble, n := uint64(0), r.n/dims
	if s.scramble {
		scramble = uint64(s.vectors) + dims*uint64(s.width)*uint64(s.width/8)
	}
	p := (&shim.Params{}).U64(uint64(s.vectors), scramble).U32(g.dims).U64(g.offset, n, uint64(r.out))
	if r.params != nil {
		r.params(p)
	}
	suffix := kinds[r.kind].suffix
	if r.kind == integers {
		suffix = "bits"
	}
	name := map[int]string{32: "sobol32_", 64: "sobol64_"}[s.width] + suffix
	blocks := grid(n)
	blocks[1] = uint32(min(dims, 1024))
	return sobolKernels.Launch(d, g.stream, name, blocks, [3]uint32{threads, 1, 1}, p)
}

func (s *sobol) drop(d *driver.Thread) {
	if s.vectors != 0 {
		_ = d.GiveMemory(s.vectors)
	}
	s.vectors = 0
}

func vectorsOf(to hostmem.Ptr, set rand.CurandDirectionVectorSet_t, plain rand.CurandDirectionVectorSet_t, width int) error {
	if set != plain && set != plain+1 {
		return outOfRange
	}
	return give(to, tables[set != plain][width]())
}

func give(to hostmem.Ptr, b []byte) error {
	if to == hostmem.Nil {
		return outOfRange
	}
	hostmem.Store(to, uint64(hostmem.Of(&b[0])))
	return nil
}

// GetDirectionVectors32 is the address of the vectors of 20,000 dimensions.
func (t *Thread) GetDirectionVectors32(to hostmem.Ptr, set rand.CurandDirectionVectorSet_t) error {
	return vectorsOf(to, set, rand.CURAND_DIRECTION_VECTORS_32_JOEKUO6, 32)
}

// GetDirectionVectors64 is the same with 64 bits.
func (t *Thread) GetDirectionVectors64(to hostmem.Ptr, set rand.CurandDirectionVectorSet_t) error {
	return vectorsOf(to, set, rand.CURAND_DIRECTION_VECTORS_64_JOEKUO6, 64)
}

// GetScrambleConstants32 is the address of the constants of 20,000 dimensions.
func (t *Thread) GetScrambleConstants32(to hostmem.Ptr) error { return give(to, constantTables[32]()) }

// GetScrambleConstants64 is the same with 64 bits.
func (t *Thread) GetScrambleConstants64(to hostmem.Ptr) error { return give(to, constantTables[64]()) }
