package worker

import (
	"path/filepath"
	"strings"

	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
)

// Some programs find their headers by compiling: they add the one that is missing to those that they hand over, and compile again, some
// hundred times (NVIDIA's jitify). So behind a program that lacked a header the next one is only preprocessed at first, which takes a
// fraction of the time. A mistake before the missing header is told once the header is there.

func (f *clangs) lacked() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lacking
}

func (f *clangs) setLacking(is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lacking = is
}

// look preprocesses a program, and says what its compilation would if a header is missing. All else is left to that: nil.
func (f *clangs) look(job *clangJob, c *compile.CUDA, p *cudacc.Place) *compile.CUDAError {
	o := &c.Options
	out, err := f.clang(job, o.LookArgs(p, c.Name, depsFile))
	if err != nil {
		return nil
	}
	missing := cudacc.MissingHeader(out.stderr)
	f.setLacking(missing != nil)
	if missing == nil {
		return nil
	}
	log := (&cudacc.Logger{Options: o, Place: p, Name: c.Name, Exprs: c.Exprs}).Log(out.stderr)
	list := files(":"+strings.ReplaceAll(out.deps, " ", `\ `), p)
	folders := append([]string{filepath.Dir(missing.File), p.Headers, filepath.Join(p.Resources, "include")}, o.Includes...)
	if !o.NoSourceDir {
		folders = append(folders, filepath.Dir(c.Name))
	}
	for _, dir := range folders {
		if path := filepath.Join(dir, missing.Name); filepath.IsAbs(path) && !strings.HasPrefix(path, p.Work) {
			list = append(list, compile.CUDAFile{Path: path, Size: -1})
		}
	}
	return &compile.CUDAError{Log: log, Files: list}
}
