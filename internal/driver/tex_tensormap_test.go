package driver

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

const tensorDir = "../../testdata/tensor/"

// tensorCase is a line of cases.txt; the columns are described there.
type tensorCase struct {
	label, kernel string
	v             [45]int64
}

// tensorAnswer is what a card said: codes of encoding and launch, and the bytes it left.
type tensorAnswer struct {
	encode, launch int
	bytes          []byte
}

func tensorCases(t *testing.T) []tensorCase {
	b, err := os.ReadFile(tensorDir + "cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []tensorCase
	for line := range strings.Lines(string(b)) {
		w := strings.Fields(line)
		if line[0] == '#' || len(w) != 47 {
			continue
		}
		c := tensorCase{label: w[0], kernel: w[1]}
		for i := range c.v {
			if c.v[i], err = strconv.ParseInt(w[2+i], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, c)
	}
	return all
}

func tensorAnswers(t *testing.T) map[string]tensorAnswer {
	f, err := os.Open(tensorDir + "answers.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]tensorAnswer{}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		w := strings.Fields(s.Text())
		if len(w) != 4 {
			t.Fatalf("answer %q", s.Text())
		}
		a := tensorAnswer{}
		a.encode, _ = strconv.Atoi(w[1])
		a.launch, _ = strconv.Atoi(w[2])
		if w[3] != "-" {
			if a.bytes, err = hex.DecodeString(w[3]); err != nil {
				t.Fatal(err)
			}
		}
		all[w[0]] = a
	}
	return all
}

// tensorContent is record.c's content.
func tensorContent(n int, kind int64, seed uint32) []byte {
	p := make([]byte, n)
	for i := range p {
		x := (uint32(i) + seed) * 2654435761
		p[i] = byte(x>>24 ^ x>>13)
	}
	le := binary.LittleEndian
	for i := range n {
		v := (uint32(i)*7 + seed*3) % 23
		switch {
		case kind == 1 && i < n/4:
			le.PutUint32(p[4*i:], math.Float32bits(float32(v)-11))
		case kind == 2 && i < n/2 && v != 0:
			le.PutUint16(p[2*i:], uint16(0x3c00+v*16))
		case kind == 3 && i < n/2 && v != 0:
			le.PutUint16(p[2*i:], uint16(0x3f80+v))
		case (kind == 2 || kind == 3) && i < n/2:
			le.PutUint16(p[2*i:], 0)
		case kind == 4 && i < n/8:
			le.PutUint64(p[8*i:], math.Float64bits(float64(v)-11))
		case kind == 5 && i < n/4:
			le.PutUint32(p[4*i:], v)
		}
	}
	return p
}

// tensorRig is a driver over a backend with the buffers of a case.
type tensorRig struct {
	th                   *Thread
	c                    *cmem
	mods                 [2]cu.CUmodule
	tensor, out, scratch DevPtr
	host, maps           hostmem.Ptr
}

const (
	tensorBytes = 1 << 20
	tensorShown = 16384
)

func newTensorRig(t *testing.T) *tensorRig {
	return newTensorRigOn(t, interp.New(interp.Config{Out: io.Discard, Err: io.Discard}))
}

func newTensorRigOn(t *testing.T, b backend.Backend) *tensorRig {
	Start([]backend.Backend{b})
	r := &tensorRig{th: &Thread{ID: threadIDs.Add(1)}, c: &cmem{}}
	want(t, "init", r.th.Init(0), 0)
	r.host = r.c.words(make([]uint64, tensorBytes/8)...)
	r.maps = (r.c.words(make([]uint64, 64)...) + 127) &^ 127
	r.open(t)
	return r
}

func (r *tensorRig) open(t *testing.T) {
	ctx, err := r.th.DevicePrimaryCtxRetain(0)
	want(t, "context", err, 0)
	want(t, "current", r.th.CtxSetCurrent(ctx), 0)
	for i, f := range []string{"kernels.ptx", "kernels90a.ptx"} {
		text, err := os.ReadFile(tensorDir + f)
		if err != nil {
			t.Fatal(err)
		}
		src := string(text)
		if r.mods[i], err = r.th.ModuleLoadData(r.c.str(src)); err != nil {
			_, log, _, _ := load(r.th, r.c, src)
			t.Fatalf("%s: %v %s", f, err, log)
		}
	}
	r.tensor, _ = r.th.MemAlloc(tensorBytes)
	r.out, _ = r.th.MemAlloc(1 << 16)
	r.scratch, _ = r.th.MemAlloc(1 << 16)
}

// encode makes the map of a case.
func (r *tensorRig) encode(x *tensorCase) (hostmem.Ptr, error) {
	v := &x.v
	to, at := r.maps+hostmem.Ptr(v[34]), hostmem.Ptr(r.tensor)+hostmem.Ptr(v[35])
	u64 := func(from, n int) hostmem.Ptr {
		p := r.c.words(make([]uint64, n)...)
		for i := range n {
			hostmem.Store(p.Index(i, 8), uint64(v[from+i]))
		}
		return p
	}
	u32 := func(from, n int) hostmem.Ptr {
		p := r.c.words(make([]uint64, n)...)
		for i := range n {
			hostmem.Store(p.Index(i, 4), uint32(v[from+i]))
		}
		return p
	}
	typ, rank, step := cu.CUtensorMapDataType(v[0]), uint32(v[1]), u32(16, 5)
	inter, swizzle, l2, fill := cu.CUtensorMapInterleave(v[21]), cu.CUtensorMapSwizzle(v[22]), cu.CUtensorMapL2promotion(v[23]), cu.CUtensorMapFloatOOBfill(v[24])
	if v[25] != 0 {
		return to, r.th.TensorMapEncodeIm2col(to, typ, rank, at, u64(2, 5), u64(7, 4), u32(26, 3), u32(29, 3), uint32(v[32]), uint32(v[33]), step, inter, swizzle, l2, fill)
	}
	return to, r.th.TensorMapEncodeTiled(to, typ, rank, at, u64(2, 5), u64(7, 4), u32(11, 5), step, inter, swizzle, l2, fill)
}

// transaction is the bytes that the kernel waits for, as record.c has them.
func (x *tensorCase) transaction() uint64 {
	size := [...]int64{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4}
	numbered := [...]int64{1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4}
	v := &x.v
	n := size[v[0]]
	slice := 16 * v[21]
	if slice != 0 {
		n = slice
	}
	rank := int(v[1])
	for i := 0; i < rank && v[25] == 0; i++ {
		box, step := v[11+i], v[16+i]
		switch {
		case slice != 0 && i == rank-2:
		case i > 0 || slice != 0:
			n *= (box + step - 1) / step
		default:
			n *= box
		}
	}
	if v[25] != 0 {
		n *= v[32] * v[33]
	}
	switch {
	case strings.HasPrefix(x.kernel, "rpbox0"):
		n = n / v[11] * v[41]
	case strings.HasPrefix(x.kernel, "rpbox1"):
		n = n / v[12] * v[41]
	}
	if s, ok := strings.CutPrefix(x.kernel, "rpelemtype"); ok {
		k, _ := strconv.Atoi(s)
		n = n / size[v[0]] * numbered[k]
	}
	return uint64(n)
}

// run launches the case's kernel and gives what it left.
func (r *tensorRig) run(t *testing.T, x *tensorCase, m hostmem.Ptr) (code int, left []byte) {
	reduces := strings.HasPrefix(x.kernel, "rd")
	stores := x.kernel[0] == 's' || x.kernel[1] == 's' || reduces
	put := func(to DevPtr, b []byte) {
		copy(hostmem.Bytes(r.host, uint64(len(b))), b)
		want(t, "copy", r.th.MemcpyHtoD(to, r.host, uint64(len(b))), 0)
	}
	put(r.tensor, tensorContent(tensorBytes/8, x.v[44], 1))
	if stores && !reduces {
		put(r.tensor, bytes.Repeat([]byte{0xa5}, tensorBytes/8))
	}
	put(r.scratch, tensorContent(8192, x.v[44], 77))
	want(t, "set", r.th.MemsetD8(r.out, 0xa5, 1<<16), 0)
	mod, grid := r.mods[0], uint32(1)
	if strings.HasPrefix(x.kernel, "rp") {
		mod = r.mods[1]
	}
	if x.kernel == "mc2" {
		grid = 2
	}
	args := []uint64{uint64(m), uint64(r.c.words(uint64(r.tensor))), uint64(r.c.words(uint64(r.out))), uint64(r.c.words(uint64(r.scratch)))}
	for i := range 8 {
		args = append(args, uint64(r.c.words(uint64(x.v[36+i]))))
	}
	args = append(args, uint64(r.c.words(x.transaction())))
	want(t, "launch", r.th.LaunchKernel(mustFn(t, r.th, mod, x.kernel), grid, 1, 1, 32, 1, 1, 0, 0, r.c.words(args...), 0), 0)
	if err := r.th.CtxSynchronize(); err != nil {
		var c Result
		errors.As(err, &c)
		return int(c), nil
	}
	from := r.out
	if stores {
		from = r.tensor
	}
	want(t, "copy", r.th.MemcpyDtoH(r.host, from, tensorShown), 0)
	left = bytes.Clone(hostmem.Bytes(r.host, tensorShown))
	if reduces {
		return 0, left[:4096]
	}
	for len(left) > 0 && left[len(left)-1] == 0xa5 {
		left = left[:len(left)-1]
	}
	return 0, left
}

// TestTensorCopies compares tensor maps and copies with what a card answered: which maps are refused, which copies fault, and
// every byte that the others leave in memory.
func TestTensorCopies(t *testing.T) {
	compareTensorCopies(t, newTensorRig, tensorCases(t))
}

func compareTensorCopies(t *testing.T, rig func(*testing.T) *tensorRig, cases []tensorCase) {
	answers := tensorAnswers(t)
	bad := 0
	fail := func(format string, args ...any) {
		if bad++; bad < 40 {
			t.Errorf(format, args...)
		}
	}
	stderrOf(t, func() {
		r := rig(t)
		defer func() { want(t, "reset", r.th.DevicePrimaryCtxReset(0), 0) }()
		for _, x := range cases {
			a, ok := answers[x.label]
			if !ok {
				t.Fatalf("%s was not recorded", x.label)
			}
			m, err := r.encode(&x)
			var code Result
			errors.As(err, &code)
			if int(code) != a.encode {
				fail("%s: encoding gives %d, a card's driver %d", x.label, code, a.encode)
				continue
			}
			if x.kernel == "-" || a.encode != 0 {
				continue
			}
			got, left := r.run(t, &x, m)
			switch {
			case got != a.launch:
				fail("%s: launch gives %d, a card %d", x.label, got, a.launch)
			case !bytes.Equal(left, a.bytes):
				i := 0
				for i < len(left) && i < len(a.bytes) && left[i] == a.bytes[i] {
					i++
				}
				fail("%s: %d bytes, a card leaves %d; the first that differs is %d: %x, a card's %x", x.label, len(left), len(a.bytes), i, left[i:min(i+16, len(left))], a.bytes[i:min(i+16, len(a.bytes))])
			}
			if got != 0 {
				want(t, "reset", r.th.DevicePrimaryCtxReset(0), 0)
				r.open(t)
			}
		}
	})
	if bad > 0 {
		t.Errorf("%d cases differ", bad)
	}
}

// TestTensorMapReplaceAddress: the same map elsewhere.
func TestTensorMapReplaceAddress(t *testing.T) {
	r := newTensorRig(t)
	defer func() { want(t, "reset", r.th.DevicePrimaryCtxReset(0), 0) }()
	x := tensorCases(t)[0]
	m, err := r.encode(&x)
	want(t, "encode", err, 0)
	want(t, "replace", r.th.TensorMapReplaceAddress(m, hostmem.Ptr(r.tensor)+256), 0)
	want(t, "misaligned", r.th.TensorMapReplaceAddress(m, hostmem.Ptr(r.tensor)+8), 1)
	want(t, "null", r.th.TensorMapReplaceAddress(0, hostmem.Ptr(r.tensor)), 1)
}
