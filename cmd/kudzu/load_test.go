package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/libdevice"
)

// TestLoadEnv: what each way puts into the environment, before what was there and only once.
func TestLoadEnv(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"libcuda.so.1", "libcudart.so.13", "libkudzu.so"} {
		put(t, filepath.Join(dir, n), "")
	}
	audit, sh := filepath.Join(dir, auditName), "/bin/sh"
	if _, _, err := loadEnv(nil, loadAudit, dir, sh); err == nil || !strings.Contains(err.Error(), auditName) {
		t.Errorf("audit without its library: %v", err)
	}
	if env, _, err := loadEnv([]string{"LD_LIBRARY_PATH=/a::/b:" + dir}, "", dir, sh); err != nil || strings.Join(env, " ") != "LD_LIBRARY_PATH="+dir+":/a:/b" {
		t.Errorf("without the auditor: %v %v", env, err)
	}
	put(t, audit, "")
	devices := filepath.Join(dir, devicesName)
	put(t, devices, "")
	rows := []struct{ way, want string }{
		{loadAudit, "LD_AUDIT=" + audit + ":/x.so GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096 LD_PRELOAD=" + devices + " LD_LIBRARY_PATH=" + dir},
		{loadPreload, "LD_AUDIT=/x.so LD_PRELOAD=" + devices + ":" + filepath.Join(dir, "libcudart.so.13") + ":" + filepath.Join(dir, "libcuda.so.1") + " LD_LIBRARY_PATH=" + dir},
		{loadPath, "LD_AUDIT=/x.so LD_LIBRARY_PATH=" + dir},
	}
	for _, r := range rows {
		if env, notes, err := loadEnv([]string{"LD_AUDIT=/x.so"}, r.way, dir, sh); err != nil || len(notes) != 0 || strings.Join(env, " ") != r.want {
			t.Errorf("%s: %v, %v, %v\nwant %s", r.way, env, notes, err, r.want)
		}
	}
	for was, want := range map[string]string{
		"glibc.malloc.check=3": "glibc.rtld.optional_static_tls=4096:glibc.malloc.check=3",
		"glibc.malloc.check=3:glibc.rtld.optional_static_tls=0x2000": "glibc.malloc.check=3:glibc.rtld.optional_static_tls=0x2000",
	} {
		if env := withStaticTLS([]string{"GLIBC_TUNABLES=" + was}); len(env) != 1 || env[0] != "GLIBC_TUNABLES="+want {
			t.Errorf("GLIBC_TUNABLES=%s: %v", was, env)
		}
	}
	var usage errUsage
	if _, _, err := loadEnv(nil, "magic", dir, sh); !errors.As(err, &usage) {
		t.Errorf("magic: %v", err)
	}
}

// TestChosenWay: without a wish the auditor is taken where the loader's own file says that it is a glibc of 2.35 or newer for the
// same machine.
func TestChosenWay(t *testing.T) {
	interp := loaderOf("/bin/sh").interp
	if interp == "" {
		t.Skip("/bin/sh has no loader")
	}
	b, err := os.ReadFile(interp)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("getconf", "GNU_LIBC_VERSION").Output()
	if err != nil {
		t.Skip("no glibc")
	}
	var major, minor int
	if n, _ := fmt.Sscanf(string(out), "glibc %d.%d", &major, &minor); n != 2 || major == 2 && minor < 35 {
		t.Skipf("%s is too old", out)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, auditName), string(b)) // an object for this machine
	env, _, err := loadEnv(nil, "", dir, "/bin/sh")
	if want := "LD_AUDIT=" + filepath.Join(dir, auditName) + " GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096 LD_LIBRARY_PATH=" + dir; err != nil || strings.Join(env, " ") != want {
		t.Errorf("%v, %v; want %s", env, err, want)
	}
	old, other := bytes.ReplaceAll(b, []byte("GLIBC_2.35\x00"), []byte("GLIBC_2.3X\x00")), bytes.Clone(b)
	binary.LittleEndian.PutUint16(other[18:], uint16(elf.EM_RISCV))
	for name, file := range map[string][]byte{"old": old, "other machine": other, "no file at all": nil} {
		put(t, filepath.Join(dir, "ld.so"), string(file))
		if auditsWell(filepath.Join(dir, "ld.so"), filepath.Join(dir, auditName)) {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestLoaderOf: programs that no variable reaches are told apart, also behind a script.
func TestLoaderOf(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := elf.Open(self); err != nil || len(f.Progs) == 0 {
		t.Skip("not an ELF program")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("plain"), string(b))
	if l := loaderOf(at("plain")); l.note != "" {
		t.Errorf("plain: %q", l.note)
	}
	if err := os.Chmod(at("plain"), 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if l := loaderOf(at("plain")); !strings.Contains(l.note, "setuid") {
		t.Errorf("setuid: %q", l.note)
	}
	// The same program without its PT_INTERP is one that no loader touches.
	phoff, size, n := binary.LittleEndian.Uint64(b[32:]), uint64(binary.LittleEndian.Uint16(b[54:])), uint64(binary.LittleEndian.Uint16(b[56:]))
	for i := range n {
		if h := b[phoff+i*size:]; elf.ProgType(binary.LittleEndian.Uint32(h)) == elf.PT_INTERP {
			binary.LittleEndian.PutUint32(h, uint32(elf.PT_NULL))
		}
	}
	put(t, at("static"), string(b))
	put(t, at("script"), "#!"+at("static")+" -x\n")
	put(t, at("loop"), "#!"+at("loop")+"\n")
	for _, name := range []string{"static", "script"} {
		if l := loaderOf(at(name)); !strings.Contains(l.note, "statically linked") || l.interp != "" {
			t.Errorf("%s: %+v", name, l)
		}
	}
	for _, name := range []string{"loop", "nowhere"} {
		if l := loaderOf(at(name)); l != (loader{}) {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// TestWithTools: programs find our nvidia-smi before any other, where it is beside this program, and our assembler.
func TestWithTools(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/usr/bin")
	env, err := withTools([]string{"PATH=/usr/bin"})
	if err != nil || !slices.Equal(env, []string{"PATH=/usr/bin"}) {
		t.Fatalf("without it: %q, %v", env, err)
	}
	link := filepath.Join(filepath.Dir(self), smiName)
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(link) })
	env, err = withTools([]string{"PATH=/usr/bin"})
	if want := "TRITON_PTXAS_PATH=" + filepath.Join(filepath.Dir(self), "ptxas-12.6"); err != nil || !slices.Contains(env, want) {
		t.Errorf("without %s: %q, %v", want, env, err)
	}
	t.Setenv("PATH", "/usr/bin")
	env, err = withTools([]string{"PATH=/usr/bin", "TRITON_PTXAS_PATH=/own"})
	path := filepath.Dir(self) + ":/usr/bin"
	want := []string{"TRITON_PTXAS_PATH=/own", "TRITON_PTXAS_BLACKWELL_PATH=" + filepath.Join(filepath.Dir(self), "ptxas"), "CUDA_ROOT=" + filepath.Dir(filepath.Dir(self)), "CUDA_PATH=" + filepath.Dir(filepath.Dir(self)), "PATH=" + path}
	if err != nil || !slices.Equal(env, want) || os.Getenv("PATH") != path {
		t.Errorf("with it: %q, %v", env, err)
	}
}

// TestWithToolkit: our folder stands in for CUDA's where none is named or installed.
func TestWithToolkit(t *testing.T) {
	ours, other := t.TempDir(), t.TempDir()
	none := filepath.Join(ours, "none")
	if got := withToolkit(nil, ours, none); got != nil {
		t.Errorf("without the library: %q", got)
	}
	file := filepath.Join(ours, libdevice.File)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env       []string
		installed string
		want      []string
	}{
		{[]string{"A=1"}, none, []string{"A=1", "CUDA_HOME=" + ours}},
		{[]string{"CUDA_PATH=/x"}, none, []string{"CUDA_PATH=/x"}},
		{[]string{"CUDA_HOME=/x"}, none, []string{"CUDA_HOME=/x"}},
		{[]string{"A=1"}, other, []string{"A=1"}},
	} {
		if got := withToolkit(c.env, ours, c.installed); !slices.Equal(got, c.want) {
			t.Errorf("%q, %s: %q, want %q", c.env, c.installed, got, c.want)
		}
	}
}
