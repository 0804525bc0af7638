package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
	"kudzu/internal/libdevice"
	"kudzu/internal/nvvmir"
)

// clangs has clang read CUDA C++, one process for each program.
type clangs struct {
	home     string // of our headers and bitcode: the folder above that of this program
	confined bool
	slots    chan struct{}

	mu       sync.Mutex
	work     string            // the folder that clangs may read; guarded by mu
	pch      map[string]string // precompiled preludes in it, by their arguments; guarded by mu
	making   map[string]*sync.Mutex
	resident *resident // a clang that waits; guarded by mu
	alone    bool      // no clang waits as we want it; guarded by mu
	ready    *clang    // one that has started and waits for its arguments; guarded by mu
	folders  []string  // what that one may read besides, and the next one will; guarded by mu
	next     int       // number of the next compilation; guarded by mu
	lacking  bool      // the last program lacked a header; guarded by mu
	busy     int       // guarded by mu
	last     time.Time
}

func newClangs(self string, confined bool, slots int) *clangs {
	home := filepath.Dir(self)
	if real, err := filepath.EvalSymlinks(self); err == nil {
		home = filepath.Dir(real)
	}
	return &clangs{home: filepath.Dir(home), confined: confined, slots: make(chan struct{}, slots), pch: map[string]string{}, making: map[string]*sync.Mutex{}, last: time.Now()}
}

// answer compiles what a frame asks for.
func (f *clangs) answer(q compile.Frame, timeout time.Duration) compile.Frame {
	f.slots <- struct{}{}
	defer func() { <-f.slots }()
	f.mu.Lock()
	f.busy++
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.busy--
		f.last = time.Now()
		f.mu.Unlock()
	}()
	req, _, err := compile.DecodeRequest(q)
	if err != nil {
		return failure(q.ID, err)
	}
	r, err := protect(func(r *compile.Request) (*compile.Result, error) { return f.run(r, timeout) }, req)
	a, err := compile.EncodeAnswer(q.ID, r, err)
	if err != nil {
		return failure(q.ID, err)
	}
	return a
}

// tidy ends a clang that nobody has asked for anything.
func (f *clangs) tidy(limit time.Duration) (last time.Time, busy bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy == 0 && f.ready != nil && time.Since(f.last) > limit {
		f.ready.end()
		f.ready = nil
	}
	if f.busy == 0 && f.resident != nil && time.Since(f.last) > limit {
		f.resident.end()
		f.resident = nil
	}
	return f.last, f.busy > 0
}

// close leaves nothing behind.
func (f *clangs) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ready != nil {
		f.ready.end()
	}
	if f.resident != nil {
		f.resident.end()
	}
	if f.work != "" {
		_ = os.RemoveAll(f.work) // the next front end tidies up
	}
}

// missing is why nothing can be compiled.
func missing(form string, args ...any) error {
	return &compile.CUDAError{Missing: true, Log: fmt.Sprintf("nvrtc: error: "+form+"\n", args...)}
}

// place finds the parts of the front end.
func (f *clangs) place() (*cudacc.Place, error) {
	program := compile.Clang()
	if program == "" {
		return nil, missing(compile.NoClang)
	}
	p := &cudacc.Place{Headers: filepath.Join(f.home, "include")}
	if _, err := os.Stat(filepath.Join(p.Headers, cudacc.Prelude)); err != nil {
		return nil, missing("the device headers are not installed: %v", err)
	}
	p.Resources, p.Major = compile.ClangResources()
	if p.Major == 0 {
		return nil, missing("clang's own headers are not installed: no %s; on Debian and Ubuntu they are in package libclang-common-VERSION-dev", filepath.Join(filepath.Dir(program), "../lib/clang/VERSION/include"))
	}
	if lib := filepath.Join(f.home, libdevice.File); exists(lib) {
		p.Libdevice = lib
	}
	if lib := filepath.Join(f.home, libdevice.CFile); exists(lib) {
		p.CNames = lib
	}
	var err error
	p.Work, err = f.folder()
	return p, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// scratch begins the names of our folders.
const scratch = "kudzu-cc-"

// folder is a folder for one compilation.
func (f *clangs) folder() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.work == "" {
		for _, dir := range []string{"/dev/shm", os.TempDir()} {
			work, err := os.MkdirTemp(dir, fmt.Sprintf("%s%d-", scratch, os.Getpid()))
			if err == nil {
				f.work = work
				go sweep(dir)
				break
			}
		}
		if f.work == "" {
			return "", &compile.Failed{Stage: "front end", Text: "no folder can be made in /dev/shm or " + os.TempDir()}
		}
	}
	f.next++
	dir := filepath.Join(f.work, strconv.Itoa(f.next))
	return dir, os.MkdirAll(filepath.Join(dir, cudacc.HeaderRoot), 0o700)
}

// sweep removes folders of processes that were killed.
func sweep(dir string) {
	list, _ := filepath.Glob(filepath.Join(dir, scratch+"*")) // the pattern is good
	for _, path := range list {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), scratch), "-")
		if n, err := strconv.Atoi(pid); err == nil && !exists("/proc/"+strconv.Itoa(n)) {
			_ = os.RemoveAll(path) // another's cannot be
		}
	}
}

// maxShown bounds how often a program is compiled anew for shared variables that clang refuses.
const maxShown = 8

// run compiles one program.
func (f *clangs) run(req *compile.Request, timeout time.Duration) (*compile.Result, error) {
	t := newClock()
	c := req.CUDA
	o := &c.Options
	p, err := f.place()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(p.Work)
	job := &clangJob{folders: o.Includes, timeout: timeout}
	if dir := filepath.Dir(c.Name); !o.NoSourceDir && filepath.IsAbs(dir) { // another would be one of ours: clang works in /
		job.folders = append(slices.Clone(job.folders), dir)
	}
	if job.process, err = f.take(job.folders); err != nil { // it starts while the rest is made ready
		return nil, err
	}
	statics, err := spread(p, req)
	if err != nil {
		job.process.end()
		return nil, err
	}
	if p.PCH, err = f.prelude(o, p, req.Store, timeout); err != nil {
		job.process.end()
		return nil, err
	}
	t.done("prelude")
	if f.lacked() {
		if bad := f.look(job, c, p); bad != nil {
			return nil, bad
		}
		t.done("look")
	}
	out, err := f.clang(job, o.Args(p, c.Name, depsFile))
	if err == nil && out.code != 0 && p.PCH != "" && strings.Contains(out.stderr, "PCH file") {
		p.PCH = "" // the options do not suit it
		out, err = f.clang(job, o.Args(p, c.Name, depsFile))
	}
	over := &cudacc.Overlay{Base: filepath.Join(p.Work, "overlay")}
	var before *clangOutput // calls were postponed
	for n := 1; err == nil && out.code != 0 && n < maxShown; n++ {
		refused := cudacc.ReadRefused(out.stderr)
		again, failed := o.Reshow(p, over, c.Name, refused)
		if failed != nil || !again {
			break
		}
		if before == nil && refused.Names() {
			before = out
		}
		out, err = f.clang(job, o.Args(p, c.Name, depsFile))
	}
	if err == nil && out.code != 0 && before != nil {
		out = before
	}
	if err != nil {
		return nil, err
	}
	t.done("clang")
	log := (&cudacc.Logger{Options: o, Place: p, Name: c.Name, Exprs: c.Exprs}).Log(out.stderr)
	if out.code != 0 || strings.Contains(log, " detected in the compilation of ") {
		if log == "" {
			return nil, &compile.Crash{Kernel: c.Name, Signal: out.cause, Detail: out.last()}
		}
		bad := &compile.CUDAError{Log: log}
		if cudacc.MissingHeader(out.stderr) != nil {
			if looked := f.look(job, c, p); looked != nil {
				bad.Files = looked.Files
			}
		}
		return nil, bad
	}
	code := &compile.CUDACode{Log: log, Files: files(out.deps, p)}
	code.Code, code.Names = o.Finish(out.stdout, len(c.Exprs))
	if o.LTO {
		code.Code = string(nvvmir.LTO([]byte(code.Code)))
	} else if code.Code = cudacc.Restatic(code.Code, statics, code.Names); annotates(req.PTX, code.Files, p) {
		if err := f.annotate(job, c, p, code); err != nil {
			return nil, err
		}
	}
	b, err := code.Encode()
	if err != nil {
		return nil, err
	}
	return &compile.Result{Image: b, Stages: t.stages}, nil
}

// annotates reports whether a program has words that its PTX needs more for than clang writes.
func annotates(texts string, files []compile.CUDAFile, p *cudacc.Place) bool {
	has := func(text string) bool {
		return slices.ContainsFunc(cudacc.AnnotationWords, func(w string) bool { return strings.Contains(text, w) })
	}
	return has(texts) || slices.ContainsFunc(files, func(f compile.CUDAFile) bool {
		if strings.HasPrefix(f.Path, p.Headers+"/") || f.Path == p.Libdevice {
			return false
		}
		b, err := os.ReadFile(f.Path)
		return err == nil && has(string(b))
	})
}

// annotate asks clang's front end once more, for what is not in its PTX.
func (f *clangs) annotate(job *clangJob, c *compile.CUDA, p *cudacc.Place, code *compile.CUDACode) error {
	o := c.Options
	o.LTO = true // is IR
	out, err := f.clang(job, o.Args(p, c.Name, depsFile))
	switch {
	case err != nil:
		return err
	case out.code != 0:
		return &compile.Crash{Kernel: c.Name, Signal: out.cause, Detail: out.last()}
	}
	code.Code = cudacc.ReadAnnotations(out.stdout).Mark(code.Code)
	return nil
}

// spread writes the request's texts to the folder of its compilation. It returns the variables that are not shown as static; what is
// linked later keeps the word, for the same name may be in another program.
func spread(p *cudacc.Place, req *compile.Request) (statics []string, err error) {
	c := req.CUDA
	show := func(text string) string {
		if c.Options.LTO {
			return text
		}
		text, names := cudacc.Unstatic(text)
		statics = append(statics, names...)
		return text
	}
	rest := req.PTX
	take := func(n int) (string, bool) {
		if n < 0 || n > len(rest) {
			return "", false
		}
		text := rest[:n]
		rest = rest[n:]
		return text, true
	}
	source, ok := take(c.Bytes)
	if !ok {
		return nil, &compile.Failed{Stage: "protocol", Text: "a source that does not fill its text"}
	}
	if err := os.WriteFile(filepath.Join(p.Work, cudacc.SourceFile), []byte(c.Options.Text(c.Name, show(source), c.Exprs)), 0o600); err != nil {
		return nil, err
	}
	for _, h := range c.Headers {
		text, ok := take(h.Bytes)
		if !ok {
			return nil, &compile.Failed{Stage: "protocol", Text: "headers that do not fill their text"}
		}
		path := filepath.Join(p.Work, cudacc.HeaderRoot, h.Name)
		if rel, err := filepath.Rel(p.Work, path); err != nil || strings.HasPrefix(rel, "..") || filepath.IsAbs(h.Name) {
			continue // nothing of ours is written elsewhere: who includes it is told that it is not there
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(show(text)), 0o600)); err != nil {
			return nil, err
		}
	}
	return statics, nil
}

// files are what a compilation read beside its request, as clang's rule for make lists them.
func files(rule string, p *cudacc.Place) []compile.CUDAFile {
	_, list, _ := strings.Cut(strings.ReplaceAll(rule, "\\\n", " "), ":")
	list = strings.ReplaceAll(list, `\ `, "\x00")
	names := strings.Fields(list)
	if p.Libdevice != "" {
		names = append(names, p.Libdevice)
	}
	var out []compile.CUDAFile
	for _, name := range names {
		name = strings.NewReplacer("\x00", " ", `\#`, "#", "$$", "$").Replace(name)
		if strings.HasPrefix(name, p.Work) || name == p.PCH {
			continue
		}
		if f, err := compile.StatCUDA(name); err == nil {
			out = append(out, f)
		}
	}
	return out
}
