package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"kudzu/internal/cache"
	"kudzu/internal/config"
	"kudzu/internal/cudacc"
	"kudzu/internal/llvm/release"

	"lukechampine.com/blake3"
)

// CUDA is a program in CUDA C++.
type CUDA struct {
	Name    string       // of its source
	Bytes   int          // of its source, which begins Request.PTX
	Headers []CUDAHeader // whose texts follow
	Exprs   []string     // expressions whose mangled names are wanted
	Options cudacc.Options
}

// CUDAHeader is a header that the program brings along.
type CUDAHeader struct {
	Name  string
	Bytes int
}

// CUDACode is what became of it.
type CUDACode struct {
	Code  string `json:"-"`          // PTX, or for linking what nvvmir.LTO gives
	Log   string `json:",omitempty"` // warnings
	Names []string
	Files []CUDAFile // what was read beside the request
}

// CUDAFile is a file as it was.
type CUDAFile struct {
	Path  string
	Size  int64
	Nanos int64 // when it was changed
	Hash  string
}

// CUDAError is a program that does not compile.
type CUDAError struct {
	Log     string
	Missing bool       // there is no clang, or none of our headers
	Files   []CUDAFile `json:",omitempty"` // a header is not there: what was read, and places that have none (of size -1); else nothing
}

// Error is the log.
func (e *CUDAError) Error() string { return e.Log }

// Encode is c as an answer's body, and as an entry of the cache: the code behind a line of JSON.
func (c *CUDACode) Encode() ([]byte, error) {
	head, err := json.Marshal(c)
	return append(append(head, '\n'), c.Code...), err
}

// DecodeCUDA is its inverse.
func DecodeCUDA(b []byte) (*CUDACode, error) {
	head, code, ok := strings.Cut(string(b), "\n")
	c := &CUDACode{Code: code}
	if !ok {
		return nil, errors.New("no head before the code")
	}
	return c, json.Unmarshal([]byte(head), c)
}

// CUDA compiles a program in CUDA C++; texts are its source and headers. Mistakes in it are *CUDAError.
func (c *Client) CUDA(p *CUDA, texts string) (*CUDACode, error) {
	req := &Request{PTX: texts, CUDA: p, Kernel: p.Name, Target: Target{Triple: "nvptx64-nvidia-cuda", CPU: "sm_" + p.Options.Arch}}
	if c.cfg.Cache.On() {
		req.Store = &Store{Dir: c.cfg.Cache.Dir(), Size: c.cfg.Cache.Limit()}
	}
	r, err := c.compile(req, func(r *Result) error {
		code, err := DecodeCUDA(r.Image)
		if err == nil && r.FromCache {
			err = code.stale()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return DecodeCUDA(r.Image)
}

// stale says that a file is no longer what it was when the code was made of it.
func (c *CUDACode) stale() error {
	for _, f := range c.Files {
		st, err := os.Stat(f.Path)
		if err != nil {
			return err
		}
		if st.Size() == f.Size && st.ModTime().UnixNano() == f.Nanos {
			continue
		}
		now, err := StatCUDA(f.Path)
		if err != nil {
			return err
		}
		if now.Hash != f.Hash {
			return fmt.Errorf("%s has changed", f.Path)
		}
	}
	return nil
}

// StatCUDA is a file as it is.
func StatCUDA(path string) (CUDAFile, error) {
	st, err := os.Stat(path)
	if err != nil {
		return CUDAFile{}, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return CUDAFile{}, err
	}
	sum := blake3.Sum256(b)
	return CUDAFile{path, st.Size(), st.ModTime().UnixNano(), fmt.Sprintf("%x", sum[:16])}, nil
}

// clangFolders are where systems put clang.
var clangFolders = []string{"/usr/lib/llvm-%d/bin/clang", "/usr/bin/clang-%d", "/usr/lib/llvm/%d/bin/clang", "/usr/lib64/llvm%d/bin/clang", "/usr/local/bin/clang-%d"}

// Clang is the program that reads CUDA C++: of the same release as libLLVM if there is one, "" if there is none.
func Clang() string { return theClang().program }

// found is a clang, and the places before it that have none.
type found struct {
	program string
	passed  []string
}

var theClang = sync.OnceValue(func() (f found) {
	if p := config.Get(config.Clang); p != "" {
		if path, err := exec.LookPath(p); err == nil {
			p = path // a name alone is a program of PATH
		}
		return found{program: p}
	}
	library := libraryOf()
	majors := release.Majors()
	for _, v := range release.Majors() {
		if strings.Contains(library, fmt.Sprintf("libLLVM.so.%d", v)) || strings.Contains(library, fmt.Sprintf("libLLVM-%d", v)) {
			majors = append([]int{v}, majors...)
		}
	}
	for _, v := range majors {
		for _, form := range clangFolders {
			path := fmt.Sprintf(form, v)
			if _, err := os.Stat(path); err == nil {
				if real, err := filepath.EvalSymlinks(path); err == nil {
					f.program = real
					return f
				}
			}
			f.passed = append(f.passed, path)
		}
	}
	return f
})

// Tools are the files that a program in CUDA C++ is compiled with, as they are, and those that would be used instead if they were there
// (of size -1).
func (c *Client) Tools() []CUDAFile {
	var list []CUDAFile
	for _, path := range []string{c.cfg.Command[0], Clang()} {
		if st, err := os.Stat(path); err == nil {
			list = append(list, CUDAFile{Path: path, Size: st.Size(), Nanos: st.ModTime().UnixNano()})
		}
	}
	for _, path := range theClang().passed {
		list = append(list, CUDAFile{Path: path, Size: -1})
	}
	return list
}

// Keep stores what a library answers, under a key of its own.
func (c *Client) Keep(key [32]byte, answer []byte) {
	if err := c.cfg.Cache.Put(key, answer); err != nil {
		c.cfg.Log(fmt.Sprintf("an answer is not kept: %v", err))
	}
}

// ClangResources is the folder of clang's own headers, and its release; 0 if they are not there.
func ClangResources() (dir string, major int) {
	own, _ := filepath.Glob(filepath.Join(filepath.Dir(Clang()), "../lib*/clang/*")) // the pattern is good
	for _, path := range own {
		n, err := strconv.Atoi(strings.SplitN(filepath.Base(path), ".", 2)[0])
		if err != nil || n <= major {
			continue
		}
		if _, err := os.Stat(filepath.Join(path, "include/stddef.h")); err == nil {
			dir, major = filepath.Clean(path), n
		}
	}
	return dir, major
}

// NoClang says what to install where there is no clang.
const NoClang = "CUDA C++ is read by clang 19 or newer, which is not installed here. Debian and Ubuntu have it as package clang-19 or clang-22; KUDZU_CLANG names another one"

// ClangStamp identifies it for keys.
var ClangStamp = sync.OnceValue(func() string { return stamp(Clang()) })

// PCHKey names the precompiled form of the headers that everything includes.
func PCHKey(fields ...string) cache.Key {
	h := blake3.New(32, nil)
	for _, f := range fields {
		fmt.Fprintf(h, "%d %s", len(f), f)
	}
	var k cache.Key
	h.Sum(k[:0])
	return k
}
