package pack

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/config"
	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
)

// TestKey: what a compiler makes up goes, with its length; everything else stays.
func TestKey(t *testing.T) {
	for name, want := range map[string]string{
		"kernel": "kernel", "": "",
		"_ZN64_GLOBAL__N__0de8ae4a_25_CUDASymmetricMemoryOps_cu_69ab9089_2383126two_shotIfEEvPPT_":                  "_ZN{_GLOBAL__N__CUDASymmetricMemoryOps_cu}26two_shotIfEEvPPT_",
		"_ZN2at6native43_GLOBAL__N__e625f313_10_Nonzero_cu_cba1aaa09NonZeroOpIN3c107complexIfEEEE":                  "_ZN2at6native{_GLOBAL__N__Nonzero_cu}9NonZeroOpIN3c107complexIfEEEE",
		"_ZN39_INTERNAL_69efeb29_9_Unique_cu_285fecc22at6native41_GLOBAL__N__69efeb29_9_Unique_cu_285fecc224unique": "_ZN{_INTERNAL_Unique_cu}2at6native{_GLOBAL__N__Unique_cu}24unique",
		"_ZN6thrust44THRUST_200302_500_600_700_750_800_860_900_NS6minusIlEE":                                        "_ZN6thrust{THRUST_200302}6minusIlEE",
		"_ZN3cub17CUB_200302_900_NS5EmptyEv":                                                                        "_ZN3cub{CUB_200302}5EmptyEv",
		"_ZN12_GLOBAL__N_13fooEv":                                                                                   "_ZN12_GLOBAL__N_13fooEv", // clang's, which makes nothing up
		"_ZN99_GLOBAL__N__0de8ae4a_2_x":                                                                             "_ZN99_GLOBAL__N__0de8ae4a_2_x",
		"_ZN8CUB_tile3fooEv":                                                                                        "_ZN8CUB_tile3fooEv",
	} {
		if got := Key(name); got != want {
			t.Errorf("Key(%q)\n got %q\nwant %q", name, got, want)
		}
	}
	// Another file is another kernel, and another version of CUB another source.
	for _, two := range [][2]string{
		{"_ZN44_GLOBAL__N__e625f313_11_Nonzero2_cu_cba1aaa01fEv", "_ZN43_GLOBAL__N__e625f313_10_Nonzero_cu_cba1aaa01fEv"},
		{"_ZN3cub17CUB_200302_900_NS5EmptyEv", "_ZN3cub17CUB_200200_900_NS5EmptyEv"},
	} {
		if Key(two[0]) == Key(two[1]) {
			t.Errorf("%s and %s are the same", two[0], two[1])
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add("_ZN64_GLOBAL__N__0de8ae4a_25_CUDASymmetricMemoryOps_cu_69ab9089_2383126two")
	f.Add("_ZN99999999999999999999CUB_1_NS")
	f.Fuzz(func(t *testing.T, name string) { _ = Key(name) })
}

// Names of one source in two builds.
const (
	ownHash   = "_ZN38_GLOBAL__N__11111111_5_foo_cu_aaaaaaaa3addEPfi"
	otherHash = "_ZN38_GLOBAL__N__22222222_5_foo_cu_bbbbbbbb3addEPfi"
)

// module is a text with an entry for each name and its parameters' types.
func text(kernels map[string][]string) string {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .b8 _ZN38_GLOBAL__N__11111111_5_foo_cu_aaaaaaaa1vE[8];\n")
	for name, params := range kernels {
		var list []string
		for i, p := range params {
			list = append(list, fmt.Sprintf(".param .%s %s_param_%d", p, name, i))
		}
		fmt.Fprintf(&b, ".visible .entry %s(%s)\n{\n\tret;\n}\n", name, strings.Join(list, ", "))
	}
	return b.String()
}

// machine is a file of NVIDIA's machine code, as far as anybody here reads it.
func machine(t *testing.T, sm int, kernels ...cubin.Kernel) []byte {
	t.Helper()
	f := &cubin.File{SM: sm, Text: "x", Kernels: kernels, Vars: []cubin.Var{{Name: "_ZN38_GLOBAL__N__22222222_5_foo_cu_bbbbbbbb1vE", Global: true, Size: 8, Align: 4}}}
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b, []byte(cubin.Section), []byte(".other.sec"))
}

func container(t *testing.T, parts ...fatbin.Part) *fatbin.Container {
	t.Helper()
	b, err := fatbin.Write(parts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := fatbin.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// add makes a pack of texts.
func add(t *testing.T, n Name, texts ...string) *Pack {
	t.Helper()
	a, err := Begin(n, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if err := a.Container(container(t, fatbin.Part{Kind: fatbin.PTX, SM: 80, Data: []byte(text)}), 999); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Done(); err != nil {
		t.Fatal(err)
	}
	p, err := Find(n)
	if err != nil || p == nil {
		t.Fatalf("%v, %v", p, err)
	}
	return p
}

func params(sizes ...uint32) (l []cubin.Param) {
	at := uint32(0)
	for _, s := range sizes {
		at = (at + s - 1) / s * s
		l = append(l, cubin.Param{Offset: at, Size: s})
		at += s
	}
	return l
}

// TestMatch: a kernel with other hashes is found and gets the asking module's name; one with other parameters, or of another source,
// is refused by its name and cannot be reached.
func TestMatch(t *testing.T) {
	t.Setenv(config.PackDir, filepath.Join(t.TempDir(), "packs"))
	p := add(t, Name{"libfoo", "1.2.3"}, text(map[string][]string{"other": {"u64"}}),
		text(map[string][]string{ownHash: {"u64", "u32"}, "plain": {"u32"}, "grown": {"u64", "u64"}}))
	if p.Modules != 2 || p.Kernels != 4 {
		t.Fatalf("%d modules, %d kernels", p.Modules, p.Kernels)
	}
	shifted := cubin.Kernel{Name: "plain", Params: []cubin.Param{{Offset: 48, Size: 4}}} // a first parameter that wants alignment
	old := fatbin.Part{Kind: fatbin.ELF, SM: 70, Data: machine(t, 70, cubin.Kernel{Name: "only_old"})}
	code := fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: machine(t, 80, cubin.Kernel{Name: otherHash, Params: params(8, 4)}, shifted,
		cubin.Kernel{Name: "grown", Params: params(8, 4)}, cubin.Kernel{Name: "gone", Params: params(8)})}
	m := p.Match([]*fatbin.Container{container(t, old, code)})
	if m.Kernels != 4 || m.Found != 2 {
		t.Errorf("%d of %d kernels", m.Found, m.Kernels)
	}
	for name, why := range map[string]string{"grown": "its parameters are [0:8 8:4], in the pack [0:8 8:8]", "gone": "it is not in the pack's module"} {
		if m.Refused[name] != why {
			t.Errorf("%s: %q, want %q", name, m.Refused[name], why)
		}
	}
	got, ok, err := m.Text()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for part, there := range map[string]bool{
		".entry " + otherHash + "(": true, ".entry " + ownHash + "(": false, ".entry plain(": true, ".entry grown(": false, ".entry grown$other(": true,
		" _ZN38_GLOBAL__N__22222222_5_foo_cu_bbbbbbbb1vE[8]": true,
	} {
		if strings.Contains(got, part) != there {
			t.Errorf("%q is in the text: %v\n%s", part, !there, got)
		}
	}
	if name, has, ok := Note(got); !ok || name != "libfoo 1.2.3" || has != "2 of 4 kernels" {
		t.Errorf("note %q %q", name, has)
	}
	if m := p.Match([]*fatbin.Container{container(t, old)}); m.Found != 0 || m.Refused["only_old"] == "" {
		t.Errorf("another module: %+v", m)
	}
	if m := p.MatchFile([]byte("\x7fELF")); m.Kernels != 0 || m.Found != 0 {
		t.Errorf("a damaged file: %+v", m)
	}
}

// TestMatchHides: kernels of the pack's module that were not compared cannot be reached by their names: those of machine code for
// older devices, and of machine code that cannot be read.
func TestMatchHides(t *testing.T) {
	t.Setenv(config.PackDir, filepath.Join(t.TempDir(), "packs"))
	p := add(t, Name{"libfoo", "1.2.3"}, text(map[string][]string{"plain": {"u32"}, "only_old": {"u64"}, "unread": {"u64"}}))
	m := p.Match([]*fatbin.Container{container(t,
		fatbin.Part{Kind: fatbin.ELF, SM: 70, Data: machine(t, 70, cubin.Kernel{Name: "only_old", Params: params(4)})},
		fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: machine(t, 80, cubin.Kernel{Name: "plain", Params: params(4)})},
		fatbin.Part{Kind: fatbin.ELF, SM: 80, Data: []byte("\x7fELF of another kind")})})
	got, ok, err := m.Text()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for part, there := range map[string]bool{".entry plain(": true, ".entry only_old(": false, ".entry unread(": false} {
		if strings.Contains(got, part) != there {
			t.Errorf("%q is in the text: %v\n%s", part, !there, got)
		}
	}
}

// TestMatchAmbiguous: what only hashes tell apart is found by its exact name, or refused.
func TestMatchAmbiguous(t *testing.T) {
	t.Setenv(config.PackDir, filepath.Join(t.TempDir(), "packs"))
	hashed := func(hash string) string { return "_ZN38_GLOBAL__N__" + hash + "_5_foo_cu_aaaaaaaa3addEPfi" }
	kernel := func(name string) cubin.Kernel { return cubin.Kernel{Name: name, Params: params(8, 4)} }
	module := func(names ...string) string {
		k := map[string][]string{}
		for _, n := range names {
			k[n] = []string{"u64", "u32"}
		}
		return text(k)
	}
	a, b, c, d := hashed("11111111"), hashed("22222222"), hashed("33333333"), hashed("44444444")
	const several = "the pack's module has several that differ from it only in hashes"
	for i, r := range []struct {
		pack    []string
		asked   []string
		refused map[string]string
	}{
		{[]string{module(a)}, []string{b}, nil},
		{[]string{module(a, b)}, []string{b}, nil},
		{[]string{module(a, b)}, []string{a, b}, nil},
		{[]string{module(a, b)}, []string{c}, map[string]string{c: several}},
		{[]string{module(a, b)}, []string{a, c}, map[string]string{c: several}},
		{[]string{module(a)}, []string{c, d}, map[string]string{c: "the module has several that differ only in hashes", d: "the module has several that differ only in hashes"}},
		{[]string{module(a), module(b)}, []string{b}, nil},
		{[]string{module(a), module(b)}, []string{c}, map[string]string{c: "2 modules of the pack have it, and nothing tells which is meant"}},
		{[]string{module(a), module(a)}, []string{c}, nil},
		{[]string{module(a), module(b, "more")}, []string{c, "more"}, nil},
		{[]string{module("plain", a), module("plain")}, []string{"plain"}, nil},
	} {
		p := add(t, Name{"libfoo", fmt.Sprint(i)}, r.pack...)
		var ks []cubin.Kernel
		for _, n := range r.asked {
			ks = append(ks, kernel(n))
		}
		m := p.MatchFile(machine(t, 80, ks...))
		if !maps.Equal(m.Refused, r.refused) || m.Found != len(r.asked)-len(r.refused) {
			t.Errorf("%d: %d found, refused %v, want %v", i, m.Found, m.Refused, r.refused)
		}
		got, _, err := m.Text()
		if err != nil {
			t.Error(err)
		}
		for _, n := range r.asked {
			if _, refused := r.refused[n]; m.Found > 0 && strings.Contains(got, ".entry "+n+"(") == refused {
				t.Errorf("%d: %s\n%s", i, n, got)
			}
		}
	}
}

// TestMatchVariables: a variable of another size, or one that only hashes tell apart, is not found under the program's name.
func TestMatchVariables(t *testing.T) {
	w := wanted{map[string]string{"k": ""}, map[string]string{"size": "8", "same": "4", ownHash: "4"}}
	x := &index{modules: []module{{kernels: []symbol{{"k", ""}}, vars: []symbol{{"size", "4"}, {"same", "4"}, {"mine", "4"}, {otherHash, "4"}, {strings.Replace(otherHash, "2222", "3333", 1), "4"}}}}}
	m := (&Pack{index: x, byKey: map[string][]place{"k": {{0, 0}}}}).match(w)
	for name, want := range map[string]string{"size": "size$other", "same": "same", "mine": "", otherHash: ""} {
		if m.rename[name] != want {
			t.Errorf("%s becomes %q, want %q", name, m.rename[name], want)
		}
	}
}

// TestStore: packs are kept by library and version, and a damaged or open store is none.
func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "packs")
	t.Setenv(config.PackDir, dir)
	one := text(map[string][]string{"a": nil})
	add(t, Name{"libfoo", "1.0"}, one)
	add(t, Name{"libfoo", "1.0"}, one, text(map[string][]string{"b": nil})) // in its place
	add(t, Name{"libfoo", "2.0"}, one)
	if packs, bad := List(); len(packs) != 2 || len(bad) != 0 || packs[0].Modules != 2 {
		t.Errorf("%v, %v", packs, bad)
	}
	if p, err := Find(Name{"libfoo", "3.0"}); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	for _, n := range []Name{{"..", "1.0"}, {"libfoo", ""}, {"a/b", "1"}} {
		if _, err := Begin(n, ""); err == nil {
			t.Errorf("%q is the name of a pack", n)
		}
	}
	if err := Remove(Name{"libfoo", "1.0"}); err != nil {
		t.Error(err)
	}
	if err := Remove(Name{"libfoo", "1.0"}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	at := filepath.Join(dir, "libfoo/2.0")
	for _, path := range []string{dir, filepath.Dir(at), at, filepath.Join(at, indexFile), filepath.Join(at, dataFile)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(Name{"libfoo", "2.0"}); err == nil {
			t.Errorf("a pack with %s that everybody can write is taken", path)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old, err := Find(Name{"libfoo", "2.0"})
	if err != nil {
		t.Fatal(err)
	}
	add(t, Name{"libfoo", "2.0"}, text(map[string][]string{"b": nil})) // of the same size
	if got, err := old.text(0); !errors.Is(err, errReplaced) {
		t.Errorf("the old index with the new data: %v\n%s", err, got)
	}
	for _, text := range []string{"", "kudzu pack 1\n", "kudzu pack 1\na\tb\tc\nm\t5\n", "kudzu pack 1\na\tb\tc\nm\t1\t2\t3\t4\n", "kudzu pack 1\na\tb\tc\nk\tx\ty\n", "kudzu pack 1\na\tb\tc\nm\t1\t2\t99999999999\n", "kudzu pack 1\na\tb\tc\nz\n"} {
		if err := os.WriteFile(filepath.Join(at, indexFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(Name{"libfoo", "2.0"}); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
	lie := "kudzu pack 1\nlibfoo\t2.0\tx\nm\t0\t4000000\t5000000\nk\ta\t\n"
	if err := os.WriteFile(filepath.Join(at, indexFile), []byte(lie), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Find(Name{"libfoo", "2.0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.text(0); !errors.Is(err, ErrFormat) {
		t.Errorf("a module past the end: %v", err)
	}
}

// TestStoreSparse: a module takes no more memory than its text, however large the file is.
func TestStoreSparse(t *testing.T) {
	t.Setenv(config.PackDir, filepath.Join(t.TempDir(), "packs"))
	p := add(t, Name{"libfoo", "1.0"}, text(map[string][]string{"a": nil}))
	if err := os.Truncate(filepath.Join(p.dir, dataFile), 1<<39); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, indexFile), []byte("kudzu pack 1\nlibfoo\t1.0\tx\nm\t0\t500000000000\t5000\nk\ta\t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Find(Name{"libfoo", "1.0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.text(0); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

// TestStoreReplaced: there is no moment without a pack while another takes its place.
func TestStoreReplaced(t *testing.T) {
	t.Setenv(config.PackDir, filepath.Join(t.TempDir(), "packs [x]")) // a folder whose name is no pattern
	n, one := Name{"libfoo", "1.0"}, text(map[string][]string{"a": nil})
	add(t, n, one)
	if packs, bad := List(); len(packs) != 1 || len(bad) != 0 {
		t.Errorf("%v, %v", packs, bad)
	}
	stop, none := make(chan bool), make(chan int)
	go func() {
		missed := 0
		for {
			select {
			case <-stop:
				none <- missed
				return
			default:
			}
			if p, err := Find(n); p == nil && err == nil {
				missed++
			}
		}
	}()
	for range 100 {
		a, err := Begin(n, "test")
		if err == nil {
			err = errors.Join(a.Module(one), a.Done())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if missed := <-none; missed > 0 {
		t.Errorf("there was no pack %d times", missed)
	}
	if left, err := os.ReadDir(filepath.Join(Dir(), "libfoo")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add("kudzu pack 1\nlibfoo\t2.0\tx\nm\t0\t4\t5\nk\ta\t0:8\nv\tb\t4\n")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := readIndex(text)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
		if err == nil {
			var b bytes.Buffer
			if err := x.write(&b); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestNameOf: the version is that of the Python distribution that lists the file, else the number in the file's name.
func TestNameOf(t *testing.T) {
	site := filepath.Join(t.TempDir(), "env [1]", "site-packages")
	lib := filepath.Join(site, "torch/lib/libtorch_cuda.so")
	for path, text := range map[string]string{
		lib: "", filepath.Join(site, "other-1.0.dist-info/RECORD"): "other/x.so,,\n",
		filepath.Join(site, "torch-2.6.0+cu124.dist-info/RECORD"): "torch/lib/libtorch_cuda.so.x,,\ntorch/lib/libtorch_cuda.so,sha256=1,2\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]Name{
		lib: {"libtorch_cuda", "2.6.0"}, "/usr/lib/libtorch_cuda.so.2.6.0": {"libtorch_cuda", "2.6.0"}, "/usr/lib/libx.so.1": {"libx", ""}, "/bin/app": {"app", ""},
	} {
		if got := NameOf(path); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	for v, want := range map[string]string{"1:2.6.0+dfsg-7+b1": "2.6.0", "2.6.0": "2.6.0", "2.6.0~rc1-1": "2.6.0~rc1"} {
		if got := Release(v); got != want {
			t.Errorf("%s: %s", v, got)
		}
	}
}
