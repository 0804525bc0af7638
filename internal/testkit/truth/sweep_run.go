package truth

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/ptx/isa"
)

// SweepKernel runs sweeps of one shape on a device.
type SweepKernel struct {
	Sweeps []*Sweep

	r          *Runner
	k          backend.Kernel
	q          backend.Queue
	out, edges backend.Addr
	close      []func()
}

// most is the bytes of output that a launch of a SweepKernel may have.
const most = HostBytes / 2

// LoadSweeps makes the kernel of some sweeps: the one that sums, or the one that shows results.
func (r *Runner) LoadSweeps(sweeps []*Sweep, show bool) (*SweepKernel, error) {
	k := &SweepKernel{Sweeps: sweeps, r: r}
	if err := k.load(show); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

func (k *SweepKernel) load(show bool) error {
	m, err := k.r.Module(sweepText(k.Sweeps, show))
	if err != nil {
		return err
	}
	p, err := k.r.Device.Load(m)
	if err != nil {
		return err
	}
	k.close = append(k.close, func() { p.Unload() })
	if k.k, err = p.Kernel("k"); err != nil {
		return err
	}
	if k.q, err = k.r.Device.NewQueue(0); err != nil {
		return err
	}
	k.close = append(k.close, func() { k.q.Close() })
	mem := k.r.Device.Memory()
	for _, a := range []struct {
		at *backend.Addr
		n  uint64
	}{{&k.out, most}, {&k.edges, 4 * 8 * edgeCount}} {
		if *a.at, err = mem.Alloc(a.n, 256); err != nil {
			return err
		}
		k.close = append(k.close, func() { mem.Free(*a.at) })
	}
	edges := []byte{}
	for _, v := range k.Sweeps[0].edges() {
		edges = binary.LittleEndian.AppendUint64(edges, v)
	}
	copy(k.r.Host.Bytes(), edges)
	if err := k.q.Copy(k.edges, k.r.Host.Addr(), uint64(len(edges))); err != nil {
		return err
	}
	return k.q.Sync()
}

// Close frees what the kernel has.
func (k *SweepKernel) Close() {
	for _, f := range slices.Backward(k.close) {
		f()
	}
}

// launch runs blocks of steps inputs a thread, from block first on, and gives n bytes of the output.
func (k *SweepKernel) launch(first, blocks, steps, n int) ([]byte, error) {
	if n > most {
		return nil, fmt.Errorf("%d bytes of output", n)
	}
	params := binary.LittleEndian.AppendUint64(nil, uint64(k.out))
	params = binary.LittleEndian.AppendUint64(params, uint64(k.edges))
	params = binary.LittleEndian.AppendUint32(params, uint32(first))
	params = binary.LittleEndian.AppendUint32(params, uint32(steps))
	for _, step := range []func() error{
		func() error { return k.q.Fill(k.out, 0, 1, uint64(n), 0, 1) },
		func() error {
			return k.q.Launch(k.k, &backend.Launch{Grid: [3]uint32{uint32(blocks), 1, 1}, Block: [3]uint32{sweepThreads, 1, 1}, Params: params})
		},
		func() error { return k.q.Copy(k.r.Host.Addr(), k.out, uint64(n)) },
		k.q.Sync,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return k.r.Host.Bytes()[:n], nil
}

// Hashes gives each sweep's hashes of chunks of size inputs.
func (k *SweepKernel) Hashes(first, chunks, size int) ([][]uint32, error) {
	b, err := k.launch(first, chunks, size/sweepThreads, 4*len(k.Sweeps)*chunks)
	if err != nil {
		return nil, err
	}
	out := make([][]uint32, len(k.Sweeps))
	for range chunks {
		for i := range out {
			out[i] = append(out[i], binary.LittleEndian.Uint32(b))
			b = b[4:]
		}
	}
	return out, nil
}

// Results gives what each sweep makes of the sweepThreads inputs of a row, of a kernel that shows them.
func (k *SweepKernel) Results(row int) ([][]uint64, error) {
	b, err := k.launch(row, 1, 1, 8*len(k.Sweeps)*sweepThreads)
	if err != nil {
		return nil, err
	}
	out := make([][]uint64, len(k.Sweeps))
	for range sweepThreads {
		for i := range out {
			out[i] = append(out[i], binary.LittleEndian.Uint64(b))
			b = b[8:]
		}
	}
	return out, nil
}

// Rows are the rows of inputs around the edge values of a sweep, and others spread over all.
func (s *Sweep) Rows() []int {
	var rows []int
	switch {
	case !s.All:
		for c := range sampleChunks {
			for i := range 4 {
				rows = append(rows, c<<12+i*0x2a5)
			}
		}
	case s.Bits < 32:
		for row := range 1 << s.Bits / sweepThreads {
			rows = append(rows, row)
		}
	default:
		src := s.sources()[0]
		for _, v := range append(slices.Clone(bitsF32), edgeList(src.typ, src.fam.bytes)...) {
			rows = append(rows, int(uint32(v)>>8))
		}
		for i := range 16 {
			rows = append(rows, i*0xfffed>>4)
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
	}
	return rows
}

// SweepBatches puts sweeps of one shape together, as batches does lines.
func SweepBatches(sweeps []*Sweep, n int) [][]*Sweep {
	type kind struct {
		shape string
		ftz   bool
	}
	var out [][]*Sweep
	open := map[kind]int{} // a batch that has room
	for _, s := range sweeps {
		k := kind{s.shape(), slices.Contains(s.Mods, isa.ModFtz)}
		i, ok := open[k]
		if !ok || len(out[i]) >= n {
			i = len(out)
			open[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}

// SweepAnswer is what a card's chunks sum up to: the low 16 bits of each, and the sum of all.
type SweepAnswer struct {
	Total  uint32
	Chunks []uint16
}

// answer packs the hashes of all chunks.
func answer(hashes []uint32) SweepAnswer {
	var a SweepAnswer
	for _, h := range hashes {
		a.Total += h
		a.Chunks = append(a.Chunks, uint16(h))
	}
	return a
}

// WriteSweeps stores answers, one line each, compressed: chapter, instruction, answer. Of those that are the same only the
// first is stored; the others name its line.
func WriteSweeps(w io.Writer, sweeps []*Sweep, answers map[string]SweepAnswer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines := map[string]int{}
	n := 0
	for _, s := range sweeps {
		a, ok := answers[s.Text]
		if !ok {
			continue
		}
		b := binary.LittleEndian.AppendUint32(nil, a.Total)
		for _, c := range a.Chunks {
			b = binary.LittleEndian.AppendUint16(b, c)
		}
		text := base64.RawStdEncoding.EncodeToString(b)
		if first, ok := lines[text]; ok {
			text = fmt.Sprintf("=%d", first)
		} else {
			lines[text] = n
		}
		fmt.Fprintf(z, "%s\t%s\t%s\n", s.Chapter, s.Text, text)
		n++
	}
	return z.Close()
}

// ReadSweeps gives what WriteSweeps stored.
func ReadSweeps(path string) ([]*Sweep, map[string]SweepAnswer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, nil, err
	}
	var sweeps []*Sweep
	answers := map[string]SweepAnswer{}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		part := strings.Split(s.Text(), "\t")
		if len(part) != 3 {
			return nil, nil, fmt.Errorf("%s: %d fields in a line", path, len(part))
		}
		sweep := newSweep(part[0], part[1])
		if sweep == nil {
			return nil, nil, fmt.Errorf("%s: the record has a line that cannot be run", part[1])
		}
		a, err := readAnswer(part[2], sweeps, answers)
		if err != nil || len(a.Chunks) != sweep.Chunks() {
			return nil, nil, fmt.Errorf("%s: %d chunks: %w", part[1], len(a.Chunks), err)
		}
		sweeps = append(sweeps, sweep)
		answers[sweep.Text] = a
	}
	return sweeps, answers, s.Err()
}

func readAnswer(text string, before []*Sweep, answers map[string]SweepAnswer) (SweepAnswer, error) {
	if text[0] == '=' {
		var n int
		if _, err := fmt.Sscanf(text, "=%d", &n); err != nil || n < 0 || n >= len(before) {
			return SweepAnswer{}, fmt.Errorf("line %q", text)
		}
		return answers[before[n].Text], nil
	}
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(b) < 4 {
		return SweepAnswer{}, fmt.Errorf("%d bytes: %w", len(b), err)
	}
	a := SweepAnswer{Total: binary.LittleEndian.Uint32(b)}
	for b = b[4:]; len(b) >= 2; b = b[2:] {
		a.Chunks = append(a.Chunks, binary.LittleEndian.Uint16(b))
	}
	return a, nil
}
