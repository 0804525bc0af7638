package c

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/spec"
)

// exports lists the defined dynamic symbols of a library, with their version node.
func exports(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := f.DynamicVersions()
	if err != nil {
		nodes = nil // a library without version nodes has no such section
	}
	names := map[uint16]string{}
	for _, n := range nodes {
		names[n.Index] = n.Name
	}
	out := map[string]string{}
	for _, s := range syms {
		if s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Section == elf.SHN_ABS {
			continue
		}
		node := ""
		if s.HasVersion && s.VersionIndex.Index() > 1 {
			node = names[s.VersionIndex.Index()]
		}
		out[s.Name] = node
	}
	return out
}

// TestExports: every front has exactly the names of its table, under its version node.
func TestExports(t *testing.T) {
	libs := dist(t)
	for _, name := range spec.Names() {
		api, err := spec.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, lib := range api.Libraries {
			have := exports(t, filepath.Join(libs, lib.Soname))
			delete(have, lib.Node) // the node itself is a symbol
			for _, s := range api.Symbols(lib) {
				node, ok := have[s.Name]
				if !ok || node != lib.Node {
					t.Errorf("%s: %s is %q there, want node %q", lib.Soname, s.Name, node, lib.Node)
				}
				delete(have, s.Name)
			}
			for extra := range have {
				t.Errorf("%s: %s is no row", lib.Soname, extra)
			}
		}
	}
}

// TestImageExports: the Go image shows its door and the two names that GDB looks for, so that it cannot meet a host's.
func TestImageExports(t *testing.T) {
	have := exports(t, filepath.Join(dist(t), "libkudzu.so"))
	for _, name := range []string{"kz_attach", "__jit_debug_descriptor", "__jit_debug_register_code"} {
		if _, ok := have[name]; !ok {
			t.Errorf("libkudzu.so does not export %s", name)
		}
		delete(have, name)
	}
	if len(have) != 0 {
		t.Errorf("libkudzu.so exports %v as well", have)
	}
}

// TestLibraryFlags: fronts and base are never unloaded, and nothing is resolved lazily.
func TestLibraryFlags(t *testing.T) {
	libs := dist(t)
	for _, name := range []string{"libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libkudzu-base.so"} {
		f, err := elf.Open(filepath.Join(libs, name))
		if err != nil {
			t.Fatal(err)
		}
		flags, err := f.DynValue(elf.DT_FLAGS_1)
		if err != nil || len(flags) != 1 || flags[0]&uint64(elf.DF_1_NODELETE) == 0 || flags[0]&uint64(elf.DF_1_NOW) == 0 {
			t.Errorf("%s: DT_FLAGS_1 %x, %v", name, flags, err)
		}
		if soname, _ := f.DynString(elf.DT_SONAME); len(soname) != 1 || soname[0] != name {
			t.Errorf("%s: soname %v", name, soname)
		}
		f.Close()
	}
}

// TestStaticTLS: the static TLS that is left for libraries a program loads late is for the program's (libgomp needs some): ours take a
// few words at most.
func TestStaticTLS(t *testing.T) {
	const most = 64
	all, err := filepath.Glob(filepath.Join(dist(t), "*.so*"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, path := range all {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		flags, _ := f.DynValue(elf.DT_FLAGS)
		for _, p := range f.Progs {
			if p.Type == elf.PT_TLS && p.Memsz > most && len(flags) == 1 && flags[0]&uint64(elf.DF_STATIC_TLS) != 0 {
				t.Errorf("%s has %d bytes of static TLS", filepath.Base(path), p.Memsz)
			}
		}
		f.Close()
	}
}

// TestArm64 assembles what is written for the other machine, where an assembler is there.
func TestArm64(t *testing.T) {
	var clang string
	for _, c := range []string{"clang", "clang-21", "clang-20", "clang-19"} {
		if p, err := exec.LookPath(c); err == nil {
			clang = p
		}
	}
	if clang == "" {
		t.Skip("no clang to assemble for arm64")
	}
	files, err := filepath.Glob("front/zfront_*.S")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, src := range append(files, "base/entry_arm64.S") {
		obj := filepath.Join(t.TempDir(), "a.o")
		out, err := exec.Command(clang, "--target=aarch64-linux-gnu", "-march=armv8.5-a", "-Ibase", "-I../internal/abi", "-c", src, "-o", obj).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", src, err, out)
			continue
		}
		checkStride(t, obj, src)
	}
}

// checkStride: the base computes a symbol's address from the first one's.
func checkStride(t *testing.T, obj, src string) {
	t.Helper()
	f, err := elf.Open(obj)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, _ := f.Symbols()
	n := uint64(0)
	for _, s := range syms {
		if !strings.HasPrefix(s.Name, "kz_") && elf.ST_BIND(s.Info) == elf.STB_GLOBAL && elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			if s.Value%32 != 0 {
				t.Errorf("%s: %s at %d", src, s.Name, s.Value)
			}
			n = max(n, s.Value/32+1)
		}
	}
	_ = os.Remove(obj)
	if strings.Contains(src, "front") && n == 0 {
		t.Errorf("%s: no symbols", src)
	}
}
