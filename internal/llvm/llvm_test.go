package llvm

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/llvm/release"
)

var open = sync.OnceValues(func() (*Lib, error) { return Open("") })

// lib is the machine's libLLVM; without one the test is skipped with the reason.
func lib(t testing.TB) *Lib {
	t.Helper()
	l, err := open()
	if err != nil {
		t.Skip(err)
	}
	return l
}

const add = `
define i32 @f(i32 %a, i32 %b) {
  %p = alloca i32
  store i32 %a, ptr %p
  %x = load i32, ptr %p
  %c = add i32 %x, %b
  ret i32 %c
}`

func TestCompile(t *testing.T) {
	l := lib(t)
	obj, err := l.Compile(add, Options{Passes: "sroa", OptLevel: 2})
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(obj))
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != elf.ET_REL || f.Section(".text") == nil {
		t.Errorf("type %v, sections %v", f.Type, f.Sections)
	}
	text, err := l.Optimised(add, Options{Passes: "sroa"})
	if err != nil || strings.Contains(text, "alloca") || !strings.Contains(text, "add i32 %a, %b") {
		t.Errorf("after sroa: %v\n%s", err, text)
	}
	asm, err := l.Assembly(add, Options{Triple: "aarch64-linux-gnu", Passes: "sroa", OptLevel: 2})
	if err != nil || !strings.Contains(asm, "add\tw0, w") {
		t.Errorf("aarch64: %v\n%s", err, asm)
	}
	triple, cpu, features := l.Host()
	if triple == "" || cpu == "" || features == "" || !strings.Contains(l.Version(), ".") {
		t.Errorf("host %q %q %q, version %q", triple, cpu, features, l.Version())
	}
}

func TestBadText(t *testing.T) {
	l := lib(t)
	for _, c := range []struct{ name, text, passes, stage, want string }{
		{"empty", "", "", "parse", "no text"},
		{"NUL", "define\x00", "", "parse", "NUL"},
		{"syntax", "define i32 @f() {\n  ret i33\n}", "", "parse", "3:1"},
		{"type", "define i32 @f(i64 %a) {\n  ret i32 %a\n}", "", "parse", "2:11"},
		{"verify", "define void @f(ptr %p) {\n  br label %b\nb:\n %x = phi i32 [0, %c]\n br label %b\nc:\n ret void\n}", "", "verify", "PHI"},
		{"garbage", strings.Repeat("\xff\x01(", 100), "", "parse", ""},
		{"passes", add, "no-such-pass", "passes", "no-such-pass"},
		{"pipeline", add, "sroa,,(", "passes", ""},
		{"inline asm", "define void @f() {\n call void asm sideeffect \"nosuchinstruction\", \"\"()\n ret void\n}", "", "codegen", "nosuch"},
	} {
		_, err := l.Compile(c.text, Options{Passes: c.passes})
		var e *Error
		if !errors.As(err, &e) || e.Stage != c.stage || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s: got %v, want stage %s with %q", c.name, err, c.stage, c.want)
		}
	}
	if _, err := l.Compile(add, Options{Triple: "pdp11-dec-bsd"}); err == nil || !strings.Contains(err.Error(), "pdp11") {
		t.Errorf("unknown triple: %v", err)
	}
	if _, err := l.Compile(add, Options{}); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

func TestConcurrent(t *testing.T) {
	l := lib(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			text, stage := add, ""
			if i%2 == 1 {
				text, stage = "define", "parse"
			}
			_, err := l.Compile(text, Options{Passes: "sroa,instcombine", OptLevel: 1})
			var e *Error
			if stage == "" && err != nil || stage != "" && (!errors.As(err, &e) || e.Stage != stage) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

func TestNotFound(t *testing.T) {
	dir := t.TempDir()
	fake := filepath.Join(dir, "libLLVM.so.19.1")
	if err := os.WriteFile(fake, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, fake, filepath.Join(dir, "missing.so"), "libm.so.6"} {
		_, err := Open(path)
		var nf *NotFound
		if !errors.As(err, &nf) || !strings.Contains(err.Error(), "apt install") {
			t.Errorf("%s: %v", path, err)
		}
	}
	t.Setenv("KUDZU_LLVM", fake)
	if _, err := Open(""); err == nil || !strings.Contains(err.Error(), fake) {
		t.Errorf("KUDZU_LLVM is not honoured: %v", err)
	}
}

// The tested versions come first, the preferred one before the others; then the rest, oldest first; files that do not
// say their version last. What is too old is left out.
func TestInOrder(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"libLLVM.so.21.1", "libLLVM-14.so.1", "libLLVM-19.so.1", "libLLVM.so", "libLLVMSupport.a", "libLLVM-15.0.6.so.1", "libLLVM.so.22.1", "libLLVM.so.77.1"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, n := range inOrder(inFolder(dir), nil) {
		got = append(got, filepath.Base(n))
	}
	if want := "libLLVM.so.22.1 libLLVM-19.so.1 libLLVM.so.21.1 libLLVM.so.77.1 libLLVM.so"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	got = inOrder([]file{{"/a/libLLVM.so.19.1", 19}}, release.Names)
	if i, j := slices.Index(got, "libLLVM.so.22.1"), slices.Index(got, "/a/libLLVM.so.19.1"); i != 0 || j < 0 || slices.Index(got, "libLLVM.so.20.1") < j {
		t.Errorf("a folder's file of a tested version does not come before other versions: %v", got)
	}
}

// TestMasksWiden: bits of a mask that are taken apart and used as a mask again are not widened with kmovb between mask registers, which
// the register allocator would take for a copy.
func TestMasksWiden(t *testing.T) {
	const text = `
define void @f(ptr %p, ptr %q, <32 x i32> %a, <32 x i32> %b, <32 x i32> %c, <32 x i32> %d) {
  %m = icmp slt <32 x i32> %a, %b
  %n = icmp slt <32 x i32> %c, %d
  %i = bitcast <32 x i1> %m to i32
  %o = bitcast <32 x i1> %n to i32
  %t = trunc i32 %i to i8
  %j = zext i8 %t to i32
  %k = xor i32 %j, %o
  store i32 %k, ptr %p
  %w = bitcast i32 %k to <32 x i1>
  %s = select <32 x i1> %w, <32 x i32> %a, <32 x i32> %d
  store <32 x i32> %s, ptr %q
  ret void
}`
	asm, err := lib(t).Assembly(text, Options{Triple: "x86_64-linux-gnu", CPU: "sapphirerapids", OptLevel: 2})
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`kmov[bwd]\s+%k\d, %k\d`).FindString(asm); m != "" {
		t.Errorf("%s in\n%s", m, asm)
	}
}
