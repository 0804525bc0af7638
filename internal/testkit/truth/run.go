package truth

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"kudzu/internal/backend"
)

// Host is page memory that a device may copy from and to.
type Host interface {
	Bytes() []byte
	Addr() backend.Addr
}

// Runner runs lines on a device.
type Runner struct {
	Device backend.Device
	Module func(text string) (*backend.Module, error)
	Host   Host   // room for inputs and outputs of one line
	Failed func() // called after an error; nil: nothing need
}

// HostBytes is enough room for any line.
const HostBytes = 1 << 20

// Run gives the bytes all lanes wrote.
func (r *Runner) Run(l *Line) ([]byte, error) {
	out, err := r.RunAll([]*Line{l})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// RunAll runs several lines of one profile in one kernel and gives the bytes of each.
func (r *Runner) RunAll(lines []*Line) ([][]byte, error) {
	k, unload, err := r.load(lines)
	if err != nil {
		return nil, err
	}
	defer unload()
	q, err := r.Device.NewQueue(0)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	var in []byte
	nOut := 0
	for _, l := range lines {
		in = append(in, l.Inputs()...)
		nOut += Lanes * l.OutBytes()
	}
	if max(len(in), nOut) > len(r.Host.Bytes()) {
		return nil, fmt.Errorf("%d lines need %d bytes of input and %d of output", len(lines), len(in), nOut)
	}
	mem := r.Device.Memory()
	a, err := mem.Alloc(uint64(len(in)), 256)
	if err != nil {
		return nil, err
	}
	defer mem.Free(a)
	b, err := mem.Alloc(uint64(nOut), 256)
	if err != nil {
		return nil, err
	}
	defer mem.Free(b)
	copy(r.Host.Bytes(), in)
	params := binary.LittleEndian.AppendUint64(nil, uint64(b))
	params = append(binary.LittleEndian.AppendUint64(params, uint64(a)), Params()...)
	for _, step := range []func() error{
		func() error { return q.Copy(a, r.Host.Addr(), uint64(len(in))) },
		func() error { return q.Fill(b, 0, 1, uint64(nOut), 0, 1) },
		func() error {
			return q.Launch(k, &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{Lanes, 1, 1}, Params: params})
		},
		func() error { return q.Copy(r.Host.Addr(), b, uint64(nOut)) },
		q.Sync,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	var out [][]byte
	rest := r.Host.Bytes()[:nOut]
	for _, l := range lines {
		n := Lanes * l.OutBytes()
		out = append(out, bytes.Clone(rest[:n]))
		rest = rest[n:]
	}
	return out, nil
}

// load makes the kernel of some lines.
func (r *Runner) load(lines []*Line) (k backend.Kernel, unload func(), err error) {
	m, err := r.Module(header(lines[0].profile) + Batch("k", lines))
	if err != nil {
		return nil, nil, err
	}
	p, err := r.Device.Load(m)
	if err != nil {
		return nil, nil, err
	}
	if k, err = p.Kernel("k"); err != nil {
		p.Unload()
		return nil, nil, err
	}
	return k, func() { p.Unload() }, nil
}

// Write stores results, one line each, compressed: chapter, instruction, bytes.
func Write(w io.Writer, lines []*Line, results map[string][]byte) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if b, ok := results[l.Text]; ok {
			fmt.Fprintf(z, "%s\t%s\t%s\n", l.Chapter, l.Text, base64.RawStdEncoding.EncodeToString(b))
		}
	}
	return z.Close()
}

// Answer is what the card said to a line.
type Answer struct {
	Chapter, Text string
	Bytes         []byte
}

// Read gives what Write stored.
func Read(path string) ([]Answer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var out []Answer
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<22)
	for s.Scan() {
		part := strings.Split(s.Text(), "\t")
		if len(part) != 3 {
			return nil, fmt.Errorf("%s: %d fields in a line", path, len(part))
		}
		b, err := base64.RawStdEncoding.DecodeString(part[2])
		if err != nil {
			return nil, err
		}
		out = append(out, Answer{part[0], part[1], b})
	}
	return out, s.Err()
}

// Difference is one lane that disagrees.
type Difference struct {
	Lane      int
	What      string // the register, or "memory"
	Got, Want uint64
}

// Diff compares two results lane by lane, register by register, under the line's tolerance.
func (l *Line) Diff(got, want []byte) []Difference {
	var out []Difference
	if len(got) != len(want) {
		return []Difference{{What: "length", Got: uint64(len(got)), Want: uint64(len(want))}}
	}
	stride := l.OutBytes()
	near := l.Tolerance()
	most := 0.0
	if near.Rel > 0 {
		most = l.largest(want)
	}
	for lane := range Lanes {
		off := lane * stride
		for _, r := range l.regs {
			if !r.dest {
				continue
			}
			for k := 0; k < outBytes(r); k += 8 {
				g, w := binary.LittleEndian.Uint64(got[off+k:]), binary.LittleEndian.Uint64(want[off+k:])
				if g != w && !near.Allows(r.typ, g, w, most) {
					out = append(out, Difference{lane, r.name, g, w})
				}
			}
			off += outBytes(r)
		}
		rest, what := l.memoryBytes(), "memory"
		if l.after != "" {
			rest, what = rest+8, "carry"
		}
		for k := 0; k < rest; k += 8 {
			g, w := binary.LittleEndian.Uint64(got[off+k:]), binary.LittleEndian.Uint64(want[off+k:])
			if g != w {
				out = append(out, Difference{lane, what, g, w})
			}
		}
	}
	return out
}

// Chapters counts lines by chapter, sorted.
func Chapters(lines []*Line) []string {
	n := map[string]int{}
	for _, l := range lines {
		n[l.Chapter]++
	}
	var out []string
	for c, k := range n {
		out = append(out, fmt.Sprintf("%s %d", c, k))
	}
	sort.Strings(out)
	return out
}
