package driver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// object is a host object with one section of fat binaries, as nvcc -rdc=true leaves it.
func object(t *testing.T, texts ...string) []byte {
	t.Helper()
	var data []byte
	for _, text := range texts {
		b, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 70, Major: 7, Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, b...)
		data = append(data, make([]byte, -len(data)&7)...)
	}
	names := "\x00__nv_relfatbin\x00.shstrtab\x00"
	const header, section = 64, 64
	type shdr struct {
		Name, Type             uint32
		Flags, Addr, Off, Size uint64
		Link, Info             uint32
		Align, Entry           uint64
	}
	at := uint64(header + len(data) + len(names))
	var b bytes.Buffer
	put := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	put([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	put([]uint16{1, 62})
	put(uint32(1))
	put([]uint64{0, 0, at})
	put(uint32(0))
	put([]uint16{header, 0, 0, section, 3, 2})
	put(data)
	put([]byte(names))
	put(shdr{})
	put(shdr{Name: 1, Type: 1, Off: header, Size: uint64(len(data)), Align: 8})
	put(shdr{Name: 16, Type: 3, Off: header + uint64(len(data)), Size: uint64(len(names)), Align: 1})
	return b.Bytes()
}

// deviceRuntimeObject is the member of the vendor's libcudadevrt.a.
const deviceRuntimeObject = "cuda_device_runtime.o"

func library(members map[string][]byte) []byte {
	b := []byte("!<arch>\n")
	add := func(name string, data []byte) {
		b = fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o644, len(data))
		b = append(b, data...)
		b = append(b, make([]byte, len(data)&1)...)
	}
	add("//", []byte(deviceRuntimeObject+"/\n"))
	for name, data := range members {
		if name == deviceRuntimeObject { // too long for a header
			add("/0", data)
			continue
		}
		add(name+"/", data)
	}
	return b
}

// TestLinkObjects: objects and archives that nvcc made, and the vendor's device runtime, which we have our own of.
func TestLinkObjects(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	dir := t.TempDir()
	runtime := ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func (.param .b32 r) __cuda_syscall_cnpv2GetLastError;\n"
	for what, in := range map[string][]byte{
		"object":           object(t, linkB),
		"archive":          library(map[string][]byte{"b.o": object(t, linkB)}),
		"its own again":    library(map[string][]byte{"b.o": object(t, linkB), "c.o": object(t, linkB)}),
		"runtime by text":  library(map[string][]byte{"b.o": object(t, linkB), "r.o": object(t, runtime)}),
		"runtime by name":  library(map[string][]byte{"b.o": object(t, linkB), deviceRuntimeObject: object(t)}),
		"notes in between": library(map[string][]byte{"b.o": object(t, linkB), "README": []byte("text\n")}),
		"two in an object": object(t, linkB, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .func unused() { ret; }\n"),
	} {
		t.Run(what, func(t *testing.T) {
			l, err := th.LinkCreate(0, 0, 0)
			want(t, "create", err, 0)
			defer func() { want(t, "destroy", th.LinkDestroy(l), 0) }()
			want(t, "text", th.LinkAddData(l, cu.CU_JIT_INPUT_PTX, c.str(linkA), uint64(len(linkA)), 0, 0, 0, 0), 0)
			path := filepath.Join(dir, "in")
			if err := os.WriteFile(path, in, 0o600); err != nil {
				t.Fatal(err)
			}
			want(t, "file", th.LinkAddFile(l, cu.CU_JIT_INPUT_LIBRARY, path, 0, 0, 0), 0)
			out := c.words(0)
			_, err = th.LinkComplete(l, out)
			want(t, "complete", err, 0)
			m, err := th.ModuleLoadData(hostmem.Load[hostmem.Ptr](out))
			want(t, "load", err, 0)
			want(t, "unload", th.ModuleUnload(m), 0)
		})
	}
	l, err := th.LinkCreate(0, 0, 0)
	want(t, "create", err, 0)
	empty := object(t)
	want(t, "no device code", th.LinkAddData(l, cu.CU_JIT_INPUT_LIBRARY, c.str(string(empty)), uint64(len(empty)), 0, 0, 0, 0), 209)
	want(t, "destroy", th.LinkDestroy(l), 0)
}
