package compile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"kudzu/internal/cache"
	"kudzu/internal/config"
	"kudzu/internal/llvm/release"

	"github.com/klauspost/cpuid/v2"
	"lukechampine.com/blake3"
)

// keyFormat changes when the meaning of the hashed fields does.
const keyFormat = "kudzu image 2"

// keyOf hashes everything an image depends on. Each field goes in with its length, so that no two requests run into
// one another.
func keyOf(req *Request, version string) cache.Key {
	h := blake3.New(32, nil)
	field := func(s string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		io.WriteString(h, s) // a hash takes everything
	}
	field(keyFormat)
	field(version)
	if req.CUDA != nil {
		field(ClangStamp())
	} else if req.Options.Tier == Optimised {
		field(libraryOf())
	} else {
		field("tier " + req.Options.Tier.String()) // whatever libLLVM there is, or none
	}
	field(req.PTX)
	field(req.Kernel)
	target := req.Target
	if target == (Target{}) {
		target.CPU = hostCPU()
	}
	field(target.Triple)
	field(target.CPU)
	field(target.Features)
	field(fmt.Sprint(req.Block))
	field(fmt.Sprintf("%d %v %s", req.Options.Level, req.Options.AMX, req.Options.Passes))
	if req.Options.CodeObject != 0 {
		field(fmt.Sprintf("code object %d", req.Options.CodeObject))
	}
	if req.Options.NoMatrix {
		field("no matrix units")
	}
	if req.Options.Clusters {
		field("clusters")
	}
	if req.Options.ExactNaN {
		field("exact NaN")
	}
	if req.Options.Bounds {
		field("bounds")
	}
	if req.Options.Stack != 0 {
		field(fmt.Sprintf("stack %d", req.Options.Stack))
	}
	if len(req.Options.Force) > 0 {
		field(fmt.Sprintf("force %v", req.Options.Force)) // fmt prints maps in order
	}
	if req.FactsOnly {
		field("facts")
	}
	if req.NVVM != nil {
		field(fmt.Sprintf("NVVM %+v", *req.NVVM))
	}
	if req.CUDA != nil {
		field(fmt.Sprintf("CUDA %+v", *req.CUDA))
	}
	var k cache.Key
	h.Sum(k[:0])
	return k
}

// hostCPU is what of this machine's processor code may depend on. It is not LLVM's name, which only the compiler
// process knows: two processors that differ here compile twice, two that agree here are the same to LLVM.
var hostCPU = sync.OnceValue(func() string {
	c := cpuid.CPU
	return fmt.Sprintf("host %s %s %d.%d.%d %s", runtime.GOARCH, c.VendorString, c.Family, c.Model, c.Stepping, strings.Join(c.FeatureSet(), ","))
})

// llvmFolders is where systems put libraries.
var llvmFolders = []string{
	"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/opt/llvm/lib",
	"/usr/lib/llvm-%d/lib", "/usr/lib/llvm/%d/lib64",
}

// library identifies the libLLVM that the compiler process would find, without loading it or starting the process: a new
// release may give better or more correct code. It is the name, size and time of the first file that is there; where the
// process finds another by ways we do not know, an upgrade shows by the other files' change or not at all.
func library() string {
	if p := config.Get(config.LLVM); p != "" {
		if strings.Contains(p, "/") {
			return p + " " + stamp(p)
		}
		return p + " " + first(0, []string{p}) // a name for the dynamic loader
	}
	for _, v := range release.Majors() {
		if s := first(v, release.Names(v)); s != "" {
			return s
		}
	}
	return ""
}

// first is the stamp of the first file with one of the names in llvmFolders; folders of one version only count for major.
func first(major int, names []string) string {
	for _, dir := range llvmFolders {
		if strings.Contains(dir, "%d") {
			dir = fmt.Sprintf(dir, major)
		}
		for _, name := range names {
			if s := stamp(dir + "/" + name); s != "" {
				return s
			}
		}
	}
	return ""
}

var libraryOf = sync.OnceValue(library)

// stamp is a file's identity without reading it, "" if it is not there.
func stamp(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", path, st.Size(), st.ModTime().UnixNano())
}

// buildID identifies the compiler program: the build id that Go's linker notes in it, which changes with the code; a
// program without one is hashed whole. A program that cannot be read has no version, and will not start either.
func buildID(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "unreadable"
	}
	defer f.Close()
	if e, err := elf.NewFile(f); err == nil {
		for _, p := range e.Progs {
			if p.Type != elf.PT_NOTE || p.Filesz > 1<<16 {
				continue
			}
			b := make([]byte, p.Filesz)
			if _, err := p.ReadAt(b, 0); err != nil {
				continue
			}
			if id := goNote(b); id != "" {
				return id
			}
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "unreadable"
	}
	h := blake3.New(32, nil)
	if _, err := io.Copy(h, f); err != nil {
		return "unreadable"
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// goNote finds Go's build id (name "Go", type 4) in the notes of an ELF file.
func goNote(b []byte) string {
	le := binary.LittleEndian
	for len(b) >= 12 {
		name, desc, kind := int(le.Uint32(b)), int(le.Uint32(b[4:])), le.Uint32(b[8:])
		b = b[12:]
		namePad, descPad := (name+3)&^3, (desc+3)&^3
		if name < 0 || desc < 0 || namePad > len(b) || descPad > len(b)-namePad {
			return ""
		}
		if kind == 4 && bytes.Equal(bytes.TrimRight(b[:name], "\x00"), []byte("Go")) {
			return string(b[namePad : namePad+desc])
		}
		b = b[namePad+descPad:]
	}
	return ""
}
