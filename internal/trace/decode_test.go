package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

const vecaddPTX = `.version 7.0
.target sm_50
.address_size 64
.file 1 "vecadd.cu"
.visible .entry vecadd(.param .u64 vecadd_param_0, .param .u32 vecadd_param_1, .param .f32 scale, .param .align 4 .b8 box[12])
{
	.reg .b32 %r<2>;
	.loc 1 7 0
	ret;
}
`

const vecaddHash = "0123456789abcdef0123456789abcdef"

func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func out(arg int, v uint64, size int) Blob {
	return Blob{Arg: arg, What: Out, Filled: true, Data: u64(v)[:size]}
}

func str(arg int, s string) Blob { return Blob{Arg: arg, What: String, Data: append([]byte(s), 0)} }

// program is a trace of a small program: the driver API, the runtime, cuBLAS, two threads, failures, names that no table has.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ModulesDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ModulesDir, vecaddHash+".ptx"), []byte(vecaddPTX), 0o600); err != nil {
		t.Fatal(err)
	}
	w := NewWriter(100, 1, false, "./app")
	a, b := w.Thread(100), w.Thread(101)
	now := int64(0)
	call := func(th *ThreadWriter, lib, name string, res uint64, words []uint64, blobs ...Blob) uint64 {
		now += 10_000
		return th.Call(Call{Library: lib, Name: name, Begin: now, End: now + 1500, Result: res, Words: words, Blobs: blobs})
	}
	const cu, rt, blas = "libcuda.so.1", "libcudart.so.12", "libcublas.so.12"
	call(a, cu, "cuInit", 0, []uint64{0})
	call(a, cu, "cuDeviceGet", 0, []uint64{0x7ffe10, 0}, out(0, 0, 4))
	call(a, cu, "cuDeviceGetAttribute", 0, []uint64{0x7ffe10, 76, 0}, out(0, 8, 4))
	call(a, cu, "cuCtxCreate_v2", 0, []uint64{0x7ffe18, 8, 0}, out(0, 0x5500, 8))
	call(a, cu, "cuStreamCreate", 0, []uint64{0x7ffe18, 1}, out(0, 0x6000, 8))
	call(a, cu, "cuMemAlloc_v2", 0, []uint64{0x7ffe18, 4096}, out(0, 0x700000000000, 8))
	call(a, cu, "cuMemAlloc_v2", 2, []uint64{0x7ffe18, 1 << 60}, Blob{Arg: 0, What: Out, Data: make([]byte, 8)})
	id := call(a, cu, "cuModuleLoadData", 0, []uint64{0x7ffe18, 0x400000}, out(0, 0x6600, 8))
	a.Module(Module{Call: id, Bytes: uint64(len(vecaddPTX)), Hash: vecaddHash, Ext: "ptx"})
	call(a, cu, "cuModuleGetFunction", 0, []uint64{0x7ffe18, 0x6600, 0x400100}, out(0, 0x7700, 8), str(2, "vecadd"))
	params := append(u64(0x700000000000), 0xff, 0xff, 0xff, 0xff)
	params = binary.LittleEndian.AppendUint32(params, math.Float32bits(1.5))
	params = append(params, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0)
	call(a, cu, "cuLaunchKernel", 0, []uint64{0x7700, 4, 1, 1, 256, 1, 1, 128, 0x6000, 0x7ffe20, 0}, Blob{Arg: 9, What: Params, Data: params})
	call(b, cu, "cuStreamSynchronize", 0, []uint64{0x6000})
	a.Event(Event{Type: Kernel, Begin: now - 5000, End: now, Call: id, Stream: 0x6000, Values: [4]uint64{4 | 1<<32, 1 | 256<<32, 1 | 1<<32, 128}, Text: "vecadd"})
	call(a, cu, "cuEventQuery", 600, []uint64{0x8800})
	call(a, cu, "cuEventQuery", 600, []uint64{0x8800})
	call(a, cu, "cuEventQuery", 600, []uint64{0x8800})
	call(a, cu, "cuEventQuery", 600, []uint64{0x8808})
	call(a, rt, "__cudaRegisterFunction", 0, []uint64{0x9000, 0x401000, 0x402000, 0x402000, uint64(math.MaxUint32), 0, 0, 0, 0, 0}, str(3, "_Z4scalPff"))
	call(a, rt, "cudaLaunchKernel", 0, []uint64{0x401000, 2 | 3<<32, 1, 64 | 1<<32, 1, 0x7ffe30, 16, 0}, Blob{Arg: 3, What: Params, Data: []byte{1, 2, 3, 4}})
	call(a, rt, "cudaMemcpy", 0, []uint64{0x700000000000, 0x7ffe40, 4096, 1})
	call(a, blas, "cublasCreate_v2", 0, []uint64{0x7ffe18}, out(0, 0xaa00, 8))
	call(a, blas, "cublasSetStream_v2", 0, []uint64{0xaa00, 0x6000})
	call(a, blas, "cublasSaxpy_v2", 7, []uint64{0xaa00, 128, 0x7ffe50, 0x700000000000, 1, 0x700000000100, 1})
	call(a, cu, "cuStreamDestroy_v2", 0, []uint64{0x6000})
	call(a, cu, "cuStreamCreate", 0, []uint64{0x7ffe18, 0}, out(0, 0x6000, 8))
	call(a, "libstrange.so.1", "strangeCall", 5, []uint64{1, 0xdeadbeef})
	call(a, "libcublas.so.12", "cublasNoSuchName", 5, []uint64{1})
	call(a, cu, "cuGetProcAddress_v2", 0, []uint64{0x400200, 0x7ffe60, 12000, 0, 0}, str(0, "cuInit\n"))
	now += 10_000
	a.Call(Call{Library: cu, Name: "cuCtxSynchronize", Begin: now, End: Running})
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

type recorder = Lines

func write(t *testing.T, dir string, make func(w *bytes.Buffer, d *Decoder) recorder) []byte {
	t.Helper()
	tr, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	d := NewDecoder(dir)
	var b bytes.Buffer
	p := make(&b, d)
	err = tr.Each(func(r *Record) bool {
		if r.Call != nil {
			d.Decode(r.Call)
		}
		return p.Record(r) == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestText(t *testing.T) {
	golden(t, "program.txt", write(t, program(t), func(w *bytes.Buffer, d *Decoder) recorder { return NewPrinter(w, d) }))
}

func TestJSON(t *testing.T) {
	got := write(t, program(t), func(w *bytes.Buffer, d *Decoder) recorder { return NewJSON(w, d) })
	golden(t, "program.json", got)
	for _, l := range strings.Split(strings.TrimSpace(string(got)), "\n") {
		var v map[string]any
		if err := json.Unmarshal([]byte(l), &v); err != nil {
			t.Errorf("%s: %v", l, err)
		}
	}
}

// TestEveryFunction: every function of every table is decoded from any words, with and without blobs.
func TestEveryFunction(t *testing.T) {
	d := NewDecoder(t.TempDir())
	count := 0
	for _, soname := range []string{"libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libcublas.so.12", "libcublasLt.so.13", "libcudnn.so.9", "libcufft.so.11",
		"libcurand.so.10", "libcusolver.so.11", "libcusparse.so.12", "libnccl.so.2", "libnvidia-ml.so.1", "libnvrtc.so.12", "libnvJitLink.so.12"} {
		f := d.face(soname)
		if f == nil {
			t.Fatalf("%s has no table", soname)
		}
		for name := range f.funcs {
			for _, fill := range []byte{1, 0xff} {
				c := &Call{Library: soname, Name: name, Words: make([]uint64, 40), Result: uint64(fill)}
				for i := range c.Words {
					c.Words[i] = uint64(fill) * 0x0101010101010101
				}
				for i := range 20 {
					c.Blobs = append(c.Blobs, Blob{Arg: i, What: What(i % 6), Filled: true, Data: bytes.Repeat([]byte{fill}, 8*i)})
				}
				d.Decode(c)
				b := appendArgs(nil, c)
				if len(b) == 0 && len(c.Args) > 0 {
					t.Errorf("%s: nothing", name)
				}
				if j := append(appendCallJSON([]byte(`{"x":1`), c), '}'); !json.Valid(j) {
					t.Errorf("%s: %s", name, j)
				}
				count++
			}
		}
	}
	t.Logf("%d functions", count/2)
}

// FuzzDecode: any words and blobs of any function are decoded.
func FuzzDecode(f *testing.F) {
	f.Add("libcuda.so.1", "cuLaunchKernelEx", []byte{1, 2, 3}, []byte{0, 1, 2}, uint64(0))
	f.Add("libcudart.so.12", "cudaLaunchKernelExC", make([]byte, 64), make([]byte, 64), uint64(1))
	d := NewDecoder(f.TempDir())
	f.Fuzz(func(t *testing.T, library, name string, words, blobs []byte, res uint64) {
		c := &Call{Library: library, Name: name, Result: res}
		for ; len(words) >= 8; words = words[8:] {
			c.Words = append(c.Words, le.Uint64(words))
		}
		c.Blobs = blobsOf(blobs)
		d.Decode(c)
		appendArgs(nil, c)
		if j := append(appendCallJSON([]byte(`{"x":1`), c), '}'); !json.Valid(j) {
			t.Errorf("%s", j)
		}
	})
}

// FuzzParts: any bytes are taken apart or refused.
func FuzzParts(f *testing.F) {
	f.Add([]byte(vecaddPTX))
	f.Fuzz(func(_ *testing.T, b []byte) {
		parts, err := Parts(b)
		if err != nil {
			return
		}
		c := &code{kernels: map[string]*kernelCode{}}
		for _, p := range parts {
			c.add(p)
		}
		for _, k := range c.kernels {
			k.params(&Blob{Data: b})
		}
	})
}

func BenchmarkText(b *testing.B) {
	w := NewWriter(1, 0, false)
	th := w.Thread(1)
	for i := range 100_000 {
		th.Call(Call{Library: "libcuda.so.1", Name: "cuLaunchKernel", Begin: int64(10 * i), End: int64(10*i + 5), Words: []uint64{0x7700, 4, 1, 1, 256, 1, 1, 128, 0x6000, 0x7ffe20, 0},
			Blobs: []Blob{{Arg: 9, What: Params, Data: make([]byte, 32)}}})
	}
	dir := b.TempDir()
	if err := w.Save(dir); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		tr, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		d := NewDecoder(dir)
		var sink bytes.Buffer
		p := NewPrinter(&sink, d)
		_ = tr.Each(func(r *Record) bool { d.Decode(r.Call); return p.Record(r) == nil })
		tr.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/call")
}
