package image_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/image"
	"kudzu/internal/llvm"

	"github.com/ebitengine/purego"
)

var open = sync.OnceValues(func() (*llvm.Lib, error) { return llvm.Open("") })

// object compiles LLVM text; without libLLVM the test is skipped.
func object(t testing.TB, text string, opts llvm.Options) []byte {
	t.Helper()
	l, err := open()
	if err != nil {
		t.Skip(err)
	}
	obj, err := l.Compile(text, opts)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func build(t testing.TB, text, entry string, helpers ...[]byte) *image.Image {
	t.Helper()
	b, err := image.Build(object(t, text, llvm.Options{OptLevel: 2}), entry, image.Meta{Kernel: entry}, helpers...)
	if err != nil {
		t.Fatal(err)
	}
	im, err := image.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

func mapped(t testing.TB, im *image.Image) *image.Mapping {
	t.Helper()
	m, err := im.Map()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmap(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func saxpyText(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/saxpy.ll")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSaxpy(t *testing.T) {
	const n, blocks = 1000, 4
	im := build(t, saxpyText(t), "saxpy")
	m := mapped(t, im)
	x, y := make([]float32, n+24), make([]float32, n+24)
	for i := range x {
		x[i], y[i] = float32(i), 1
	}
	params := make([]byte, 24)
	binary.LittleEndian.PutUint32(params, n)
	binary.LittleEndian.PutUint32(params[4:], 0x40000000) // 2.0
	binary.LittleEndian.PutUint64(params[8:], address(x))
	binary.LittleEndian.PutUint64(params[16:], address(y))
	launch, worker := make([]uint64, image.LaunchSize/8), make([]uint64, image.WorkerSize/8)
	launch[image.LaunchParams/8] = address(params)
	r, _, _ := purego.SyscallN(m.Entry(), uintptr(address(launch)), uintptr(address(worker)), 1, blocks-1)
	runtime.KeepAlive([]any{x, y, params})
	if r != image.StopNone || worker[image.WorkerBlock/8] != blocks-1 {
		t.Errorf("returned %d, worker %v", r, worker)
	}
	for i := range y {
		want := 2*float32(i) + 1
		if i < 256 || i >= n { // block 0 was not asked for
			want = 1
		}
		if y[i] != want {
			t.Fatalf("y[%d] = %v, want %v", i, y[i], want)
		}
	}
}

func TestLines(t *testing.T) {
	im := build(t, saxpyText(t), "saxpy")
	seen := map[uint32]bool{}
	last := uint32(0)
	for i, l := range im.Meta.Lines {
		if i > 0 && l.Offset <= last {
			t.Errorf("row %d: offset %d after %d", i, l.Offset, last)
		}
		last = l.Offset
		seen[l.Line] = true
	}
	for _, want := range []uint32{11, 13, 16, 17, 18} {
		if !seen[want] {
			t.Errorf("no code for line %d in %v", want, im.Meta.Lines)
		}
	}
	m := mapped(t, im)
	off, ok := m.Contains(m.Entry())
	if !ok || off != im.Entry || im.Meta.Line(off) != 11 {
		t.Errorf("entry: offset %d, line %d", off, im.Meta.Line(off))
	}
	if _, ok := m.Contains(m.Base() + uintptr(im.Text)); ok {
		t.Error("data counts as text")
	}
}

// A jump table, constants, a read-only array and calls between functions: every kind of reference that we emit.
const references = `
@table = internal constant [8 x i32] [i32 3, i32 1, i32 4, i32 1, i32 5, i32 9, i32 2, i32 6]
@shared = constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
define i64 @other(i64 %a) noinline {
  %p = getelementptr i64, ptr @shared, i64 %a
  %v = load i64, ptr %p
  ret i64 %v
}
define i64 @f(i64 %k, i64 %x) {
entry:
  switch i64 %k, label %no [ i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e
    i64 5, label %g ]
a:
  %a1 = call i64 @other(i64 %x)
  ret i64 %a1
b:
  %bp = getelementptr i32, ptr @table, i64 %x
  %b1 = load volatile i32, ptr %bp
  %b2 = zext i32 %b1 to i64
  ret i64 %b2
c:
  %c0 = uitofp i64 %x to double
  %c1 = fmul double %c0, 1234.5
  %c2 = fptosi double %c1 to i64
  ret i64 %c2
d:
  %d1 = mul i64 %x, 17
  ret i64 %d1
e:
  %e1 = xor i64 %x, 255
  ret i64 %e1
g:
  %g1 = tail call i64 @other(i64 3)
  %g2 = sub i64 %g1, %x
  ret i64 %g2
no:
  ret i64 -1
}`

func TestReferences(t *testing.T) {
	m := mapped(t, build(t, references, "f"))
	for _, c := range [][3]int64{{0, 2, 30}, {1, 5, 9}, {2, 2, 2469}, {3, 3, 51}, {4, 1, 254}, {5, 1, 39}, {6, 0, -1}} {
		if r, _, _ := purego.SyscallN(m.Entry(), uintptr(c[0]), uintptr(c[1])); int64(r) != c[2] {
			t.Errorf("f(%d, %d) = %d, want %d", c[0], c[1], int64(r), c[2])
		}
	}
}

// aarch64 code cannot run here, but every reference must resolve.
func TestReferencesAArch64(t *testing.T) {
	for _, text := range []string{references, saxpyText(t)} {
		entry := "f"
		if text != references {
			entry = "saxpy"
		}
		b, err := image.Build(object(t, text, llvm.Options{Triple: "aarch64-linux-gnu", OptLevel: 2}), entry, image.Meta{})
		if err != nil {
			t.Fatal(err)
		}
		im, err := image.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		if im.Machine != image.AArch64 {
			t.Errorf("machine %d", im.Machine)
		}
		if runtime.GOARCH != "arm64" {
			if _, err := im.Map(); err == nil {
				t.Error("foreign image was mapped")
			}
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, entry, want string }{
		{"undefined", "declare i32 @printf(ptr)\ndefine i32 @f(ptr %p) {\n %r = call i32 @printf(ptr %p)\n ret i32 %r\n}", "f", "undefined symbol printf"},
		{"undefined data", "@v = external global i32\ndefine i32 @f() {\n %r = load i32, ptr @v\n ret i32 %r\n}", "f", "undefined symbol v"},
		{"writable", "@v = global i32 3\ndefine ptr @f() {\n ret ptr @v\n}", "f", ".data is writable"},
		{"zeroed", "@v = global [100 x i32] zeroinitializer\ndefine ptr @f() {\n ret ptr @v\n}", "f", ".bss is writable"},
		{"thread local", "@v = thread_local global i32 3\ndefine ptr @f() {\n ret ptr @v\n}", "f", "writable"},
		{"pointer table", "@t = constant [2 x ptr] [ptr @f, ptr @g]\ndefine ptr @f() {\n ret ptr @t\n}\ndefine void @g() {\n ret void\n}", "f", "writable"},
		{"entry", "define void @g() {\n ret void\n}", "f", "no function f"},
		{"entry is data", "@f = constant i32 1\ndefine void @g() {\n ret void\n}", "f", "no function f"},
	} {
		_, err := image.Build(object(t, c.text, llvm.Options{OptLevel: 1}), c.entry, image.Meta{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	var u *image.UndefinedSymbol
	_, err := image.Build(object(t, "declare void @g()\ndefine void @f() {\n call void @g()\n ret void\n}", llvm.Options{}), "f", image.Meta{})
	if !errors.As(err, &u) || u.Name != "g" {
		t.Errorf("undefined symbol is not typed: %v", err)
	}
	for _, junk := range [][]byte{nil, []byte("\x7fELF"), bytes.Repeat([]byte{0xff}, 1000)} {
		if _, err := image.Build(junk, "f", image.Meta{}); err == nil {
			t.Errorf("junk of %d bytes was built", len(junk))
		}
	}
}

func TestMetaRoundTrip(t *testing.T) {
	meta := image.Meta{
		Kernel: "k_π", Block: [3]uint32{256, 2, 1}, SharedStatic: 48 << 10, SharedAlign: 128, FrameWarp: 640, FrameBlock: 64,
		LocalThread: 16, ParamBytes: 4096, Registers: 255, FTZ: true, Spins: true, Cooperative: true, Launches: true, Reserved: true,
		Vars: []string{"a", ""}, Funcs: []string{"f"}, PTXVersion: 90,
	}
	b, err := image.Build(object(t, "define void @k() {\n ret void\n}", llvm.Options{}), "k", meta)
	if err != nil {
		t.Fatal(err)
	}
	im, err := image.Parse(b)
	if err != nil || !reflect.DeepEqual(im.Meta, meta) {
		t.Errorf("%v\n%+v\n%+v", err, im.Meta, meta)
	}
}

// Every byte of an image is covered by the checksum, and no cut or flip gets through.
func TestParseDamage(t *testing.T) {
	b, err := image.Build(object(t, saxpyText(t), llvm.Options{OptLevel: 2}), "saxpy", image.Meta{Kernel: "saxpy"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1 << (i % 8)
		if _, err := image.Parse(bad); !errors.Is(err, image.ErrCorrupt) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
	}
	for n := range len(b) {
		if _, err := image.Parse(b[:n]); !errors.Is(err, image.ErrCorrupt) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := image.Parse(append(bytes.Clone(b), 0)); !errors.Is(err, image.ErrCorrupt) {
		t.Error("a byte too many is accepted")
	}
}

func TestMapProtection(t *testing.T) {
	m := mapped(t, build(t, references, "f"))
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	for _, line := range strings.Split(string(maps), "\n") {
		if perm := field(line, 1); strings.Contains(perm, "w") && strings.Contains(perm, "x") {
			t.Errorf("writable and executable: %s", line)
		}
	}
	if err := m.Unmap(); err != nil {
		t.Error(err)
	}
}

func field(line string, n int) string {
	if f := strings.Fields(line); len(f) > n {
		return f[n]
	}
	return ""
}

func BenchmarkMap(b *testing.B) {
	im := build(b, saxpyText(b), "saxpy")
	b.SetBytes(int64(len(im.Code)))
	for b.Loop() {
		m, err := im.Map()
		if err != nil {
			b.Fatal(err)
		}
		_ = m.Unmap()
	}
}

func BenchmarkParse(b *testing.B) {
	img, err := image.Build(object(b, saxpyText(b), llvm.Options{OptLevel: 2}), "saxpy", image.Meta{Kernel: "saxpy"})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(img)))
	for b.Loop() {
		if _, err := image.Parse(img); err != nil {
			b.Fatal(err)
		}
	}
}

// A damaged object is an error or an image, never a panic.
func TestBuildDamage(t *testing.T) {
	obj := object(t, saxpyText(t), llvm.Options{OptLevel: 2})
	r := rand.New(rand.NewSource(1))
	failed := 0
	for range 4000 {
		bad := bytes.Clone(obj)
		for range 1 + r.Intn(4) {
			bad[r.Intn(len(bad))] = byte(r.Intn(256))
		}
		if _, err := image.Build(bad[:len(bad)-r.Intn(2)*r.Intn(len(bad))], "saxpy", image.Meta{}); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}
