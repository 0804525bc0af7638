package main

import (
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/spec"
)

// TestDeterministic: two runs over the same repository write the same bytes.
func TestDeterministic(t *testing.T) {
	again := generated(t, func(*world) {})
	for path, text := range current(t) {
		if string(text) != string(again[path]) {
			t.Errorf("%s differs between two runs", path)
		}
	}
}

// tree writes a small module with a driver of one method.
func tree(t *testing.T, method string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"internal/driver/d.go":   "package driver\nimport (\"kudzu/internal/hostmem\"; \"kudzu/internal/spec/cu\"; \"time\")\nvar _ hostmem.Ptr\nvar _ cu.T\ntype Thread struct{ when time.Time }\ntype DevPtr uint64\ntype Mem uint16; const Half, full Mem = 1, 2\n" + method,
		"internal/hostmem/h.go":  "package hostmem\ntype Ptr uintptr\n",
		"internal/spec/cu/cu.go": "package cu\ntype T struct { A int32 }\ntype CUdevice = int32\ntype CUresult int32\n",
		"c/base/empty.c":         "",
	}
	for path, text := range files {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const testRows = `library l.so.1 package cu room driver prefix cu
type CUdeviceptr unsigned long long
type CUdevice int
handle CUstream tag st
struct T
	A int
cuMemAlloc_v2(out dptr *CUdeviceptr, in bytesize size_t) int since 3.2
cuMemAlloc(out dptr *unsigned int, in bytesize unsigned int) int since 2.0 go=MemAllocV1
cuNarrow(in p unsigned int, in n unsigned int, in c int) int since 2.0 narrow
cuName(in name *const char, in t *const T, inopt u *const T, host p **void) int
cuTyped(in n size_t) int go=Typed(Half)
cuBias(in b float, outopt n *size_t, in s CUstream) int ptsz 7.0
`

func bound(t *testing.T, method string) (*world, error) {
	t.Helper()
	api, err := spec.Parse("cuda", testRows)
	if err != nil {
		t.Fatal(err)
	}
	apis := map[string]*spec.API{"cuda": api}
	w := &world{root: tree(t, method), fset: token.NewFileSet(), apis: apis, files: map[string][]byte{}}
	return w, scanMethods(w)
}

func TestMatch(t *testing.T) {
	rows := []struct {
		method string
		want   string // passes of the arguments
	}{
		{"func (t *Thread) MemAlloc(n uint64) (DevPtr, error) { return 0, nil }", "40"},
		{"func (t *Thread) MemAlloc(p hostmem.Ptr, n uint64) error { return nil }", "30"},
		{"func (t *Thread) MemAlloc(n uint) (p int64, err error) { return }", "40"},
		{"func (t *Thread) Name(s string, a, b *cu.T, p hostmem.Ptr) error { return nil }", "1223"},
		{"func (t *Thread) Name(s, a, b, p hostmem.Ptr) error { return nil }", "3333"},
		{"func (t *Thread) Bias(b float32, s uint64) (uint64, error) { return 0, nil }", "040"},
		{"func (t *Thread) Bias(b float64, s uint64) (uint64, error) { return 0, nil }", "040"},
		{"func (t *Thread) Narrow(p DevPtr, n uint64, c int32) error { return nil }", "000"},
		{"func (t *Thread) Typed(n uint64, m Mem) error { return nil }", "0"},
	}
	for _, r := range rows {
		w, err := bound(t, r.method)
		if err != nil || len(w.order) != 1 {
			t.Errorf("%s: %v, %d bound", r.method, err, len(w.order))
			continue
		}
		got := ""
		for _, a := range w.order[0].args {
			got += string(rune('0' + int(a.pass)))
		}
		if got != r.want {
			t.Errorf("%s: passes %s, want %s", r.method, got, r.want)
		}
	}
}

// TestMisfit: a method with a row's name and another shape is named, with its place.
func TestMisfit(t *testing.T) {
	for method, want := range map[string]string{
		"func (t *Thread) MemAlloc(n uint64) DevPtr { return 0 }":                        "the last result must be error",
		"func (t *Thread) MemAlloc(n uint32) (DevPtr, error) { return 0, nil }":          "parameter uint32 cannot take size_t bytesize",
		"func (t *Thread) MemAlloc(n uint64) (Mem, error) { return 0, nil }":             "result driver.Mem cannot be stored through *CUdeviceptr dptr",
		"func (t *Thread) MemAlloc(n uint64, m int32) (DevPtr, error) { return 0, nil }": "it has 2 parameters and 1 results besides error",
		"func (t *Thread) Narrow(p DevPtr, n uint64, c uint64) error { return nil }":     "parameter uint64 cannot take int c",
		"func (t *Thread) Typed(n uint64, p DevPtr) error { return nil }":                "Half is no constant that parameter driver.DevPtr takes",
		"func (t *Thread) Typed(m Mem) error { return nil }":                             "too few parameters",
		"func (t *Thread) Bias(b uint32, s uint64) (uint64, error) { return 0, nil }":    "parameter uint32 cannot take float b",
	} {
		_, err := bound(t, method)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "d.go:8:") {
			t.Errorf("%s: error %v, want %q", method, err, want)
		}
	}
}

// TestUnbound: rows without a method, and methods without a row, are both fine.
func TestUnbound(t *testing.T) {
	w, err := bound(t, "func (t *Thread) Helper(x map[string]int) {}")
	if err != nil || len(w.order) != 0 {
		t.Errorf("%v, %d bound", err, len(w.order))
	}
}

// TestThroughDriver: a row of the runtime API that says so is bound to the driver's method, and to nothing beside it.
func TestThroughDriver(t *testing.T) {
	for _, r := range []struct{ row, method, cudart, want string }{
		{"cudaQuery(in s cudaStream_t) int driver=StreamQuery", "StreamQuery(s uint64) error", "", ""},
		{"cudaQuery(in s cudaStream_t) int driver=StreamQuery", "StreamQuery(s uint64) error", "func (t *Thread) Query(s uint64) error { return nil }", "is there though"},
		{"cudaQuery(in s cudaStream_t) int driver=StreamQuery nocontext", "StreamQuery(s uint32) error", "", "does not fit"},
		{"cudaQuery(in s cudaStream_t) int driver=StreamAsk", "StreamQuery(s uint64) error", "", "the driver has no method StreamAsk"},
	} {
		w, _ := bound(t, "func (t *Thread) "+r.method+" { return nil }")
		api, err := spec.Parse("cudart", "library l.so versions 12 package rt room cudart prefix cuda\nhandle cudaStream_t tag st\n"+r.row+"\n")
		if err != nil {
			t.Fatal(err)
		}
		w.apis["cudart"], w.order = api, nil
		if err := os.MkdirAll(filepath.Join(w.root, "internal/cudart"), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "package cudart\nimport \"kudzu/internal/driver\"\ntype Thread driver.Thread\n" + r.cudart + "\n"
		if err := os.WriteFile(filepath.Join(w.root, "internal/cudart/c.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err = scanMethods(w)
		if r.want != "" {
			if err == nil || !strings.Contains(err.Error(), r.want) {
				t.Errorf("%s: error %v, want %q", r.row, err, r.want)
			}
		} else if err != nil || len(w.order) != 1 || w.order[0].by != "Ready" || w.order[0].method.Name() != "StreamQuery" {
			t.Errorf("%s: %v, %v", r.row, err, w.order)
		}
	}
	if _, err := spec.Parse("cudart", "cudaQuery() int nocontext\n"); err == nil {
		t.Error("nocontext without driver= is taken")
	}
}

func TestMissingPackage(t *testing.T) {
	src := &sources{root: t.TempDir(), fset: token.NewFileSet(), done: map[string]*types.Package{}}
	if m, err := src.methods(module+"/internal/driver", "Thread"); err != nil || len(m) != 0 {
		t.Errorf("%v, %v", m, err)
	}
}

// TestRefusers: what only refuses is told from what does something.
func TestRefusers(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "internal/d"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "package d\n" +
		"func (t *T) A() error { return errNotSupported }\n" +
		"func (t *T) B() (int, error) { return 0, t.A() }\n" +
		"func (t *T) C() error { return nil }\n" +
		"func (t *T) D() error { return t.node() }\n" +
		"func (t *T) E() error { if err := t.node(); err != nil { return err }; return errNotSupported }\n" +
		"func (t *T) G() error { if err := t.node(); err == nil { return err }; return errNotSupported }\n" +
		"func (t *T) H() (int, error) { h, err := t.d.Below(); return h, err }\n" +
		"func (t *T) I() (int, error) { h, err := t.d.Above(); return h, err }\n" +
		"func (t *T) J() error { return t.absent(errThis) }\n" +
		"func (u *U) K() error { return errNotSupported }\n" +
		"func (t *T) K() error { return nil }\n" +
		"func (t *T) L() error { if _, err := t.node(); err != nil { return err }; return nil }\n" +
		"func (t *T) M(n int) error { if n < 0 { return errThis }; _, err := t.node(); return err }\n" +
		"func (t *T) N(n int) error { t.n = n; return nil }\n" +
		"func (t *T) O() (int, error) { return 1, nil }\n" +
		"func F() error { return errNotSupported }\n" +
		"const code, number = Error(3), 3\n" +
		"func (t *T) P() error { return code }\n" +
		"func (t *T) Q() error { return F() }\n" +
		"func (t *T) R() (int, error) { return 0, cmp.Or(t.node(), error(code)) }\n" +
		"func (t *T) S() error { return cmp.Or(t.node(), error(number)) }\n"
	if err := os.WriteFile(filepath.Join(dir, "internal/d/d.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{root: dir}
	got, idle, err := w.refusers("d", map[string]bool{"Below": true})
	for _, name := range []string{"A", "B", "C", "D", "E", "G", "H", "I", "J", "K", "L", "M", "N", "O", "F", "P", "Q", "R", "S"} {
		if want := strings.Contains("ABEHJFPQR", name); got[name] != want || err != nil {
			t.Errorf("%s: %v, %v", name, got[name], err)
		}
		if want := strings.Contains("CKLM", name); idle[name] != want {
			t.Errorf("%s only checks: %v", name, idle[name])
		}
	}
}
