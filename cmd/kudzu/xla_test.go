package main

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/libdevice"
)

// library writes an ELF file whose only constants are these.
func library(t *testing.T, path, constants string) {
	t.Helper()
	const head, entry = 64, 64
	names := "\x00.rodata\x00.shstrtab\x00"
	sections := [3]elf.Section64{
		1: {Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC), Off: head, Size: uint64(len(constants)), Addralign: 1},
		2: {Name: 9, Type: uint32(elf.SHT_STRTAB), Off: uint64(head + len(constants)), Size: uint64(len(names)), Addralign: 1},
	}
	h := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Shoff: uint64(head + len(constants) + len(names)), Ehsize: head, Shentsize: entry, Shnum: uint16(len(sections)), Shstrndx: 2,
	}
	b, err := binary.Append(nil, binary.LittleEndian, h)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, constants+names...)
	for _, s := range sections {
		if b, err = binary.Append(b, binary.LittleEndian, s); err != nil {
			t.Fatal(err)
		}
	}
	put(t, path, string(b))
}

// TestXLADirectory: XLA has our libdevice where nobody named another.
func TestXLADirectory(t *testing.T) {
	ours := t.TempDir()
	if got := withXLA([]string{"A=1"}, ours, "/bin/sh"); !slices.Equal(got, []string{"A=1"}) {
		t.Errorf("without the library: %q", got)
	}
	put(t, filepath.Join(ours, libdevice.File), "")
	const flag = xlaData + "="
	for _, c := range [][2]string{
		{"A=1", "A=1 XLA_FLAGS=" + flag + ours},
		{"XLA_FLAGS=", "XLA_FLAGS=" + flag + ours},
		{"XLA_FLAGS=--a=1 --b", "XLA_FLAGS=--a=1 --b " + flag + ours},
		{"XLA_FLAGS=" + flag + "/own --b", "XLA_FLAGS=" + flag + "/own --b"},
		{"XLA_FLAGS=/a/file", "XLA_FLAGS=/a/file"},
	} {
		if got := strings.Join(withXLA([]string{c[0]}, ours, "/bin/sh"), " "); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

// TestXLASettings: Python programs get the flags that every XLA which they could load knows, and no others.
func TestXLASettings(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	python, script := filepath.Join(dir, "bin/python3"), filepath.Join(dir, "bin/train")
	put(t, python, "")
	put(t, script, "#!"+python+" -E\n")
	put(t, filepath.Join(dir, "bin/byname"), "#!/usr/bin/env -S python3\n")
	t.Setenv("PATH", filepath.Dir(python))
	const both = "XLA_FLAGS=--xla_gpu_enable_triton_gemm=false --xla_gpu_autotune_level=0"
	site := filepath.Join(dir, "lib/python3.13/site-packages")
	wants := func(what, program, want string, env ...string) {
		t.Helper()
		env = append(env, "HOME="+filepath.Join(dir, "home"))
		got, _ := lookEnv(withXLA(env, dir, program), "XLA_FLAGS")
		if want, _ := lookEnv([]string{want}, "XLA_FLAGS"); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	wants("no XLA", python, "")
	library(t, filepath.Join(site, "jaxlib/other.so"), "\x00nothing\x00")
	wants("a library without XLA", python, "")
	const name = "\x00xla_gpu_cuda_data_dir\x00xla_gpu_enable_triton_gemm\x00"
	library(t, filepath.Join(site, "jaxlib/libjax_common.so"), name+"longer.xla_gpu_autotune_level\x00")
	wants("JAX", python, both)
	wants("a script", script, both)
	wants("a script by name", filepath.Join(dir, "bin/byname"), both)
	wants("another program", self, "")
	wants("interpreter", python, both, "KUDZU_BACKEND=interp")
	wants("a GPU", python, "", "KUDZU_BACKEND=cuda")
	wants("a GPU first", python, "", "KUDZU_BACKEND=hip,cpu")
	wants("set", python, "XLA_FLAGS=--xla_gpu_autotune_level=4 --xla_gpu_enable_triton_gemm=false", "XLA_FLAGS=--xla_gpu_autotune_level=4")
	wants("set without a value", python, "XLA_FLAGS=--xla_gpu_enable_triton_gemm --xla_gpu_autotune_level=0", "XLA_FLAGS=--xla_gpu_enable_triton_gemm")
	wants("a file", python, "XLA_FLAGS=flags.txt", "XLA_FLAGS=flags.txt")
	older := filepath.Join(dir, "older")
	library(t, filepath.Join(older, "tensorflow/libtensorflow_cc.so.2"), "\x00xla_gpu_cuda_data_dir\x00xla_gpu_autotune_level\x00")
	wants("TensorFlow before Triton", python, "", "PYTHONPATH="+older)
	put(t, filepath.Join(older, "tensorflow/libtensorflow_cc.so.2"), "no library")
	wants("not a library", python, "", "PYTHONPATH="+older)
}
