package worker

import (
	"errors"

	"kudzu/internal/compile"
	"kudzu/internal/llvm"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// fromPTX is the first half for CPUs.
func fromPTX(req *compile.Request, _ llvm.Options, t *clock, _ map[string]string) (*source, error) {
	if _, err := parse(req, t); err != nil {
		return nil, err
	}
	return nil, &compile.Unsupported{What: "code generation"} // until emit/warp is there
}

// parse reads and checks the kernel's text.
func parse(req *compile.Request, t *clock) (*ptx.Module, error) {
	m, err := ptx.ParseModule(req.PTX)
	if err != nil {
		return nil, ptxError(err)
	}
	t.done("parse")
	if err := check.Module(m); err != nil {
		return nil, ptxError(err)
	}
	t.done("check")
	return m, nil
}

// ptxError lists the faults of a module one by one.
func ptxError(err error) error {
	var list ptx.ErrorList
	if !errors.As(err, &list) {
		return &compile.PTXError{List: []string{err.Error()}}
	}
	e := &compile.PTXError{}
	for _, one := range list {
		e.List = append(e.List, one.Error())
	}
	return e
}
