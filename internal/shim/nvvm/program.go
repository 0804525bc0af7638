package nvvm

import (
	"errors"
	"strings"

	"kudzu/internal/compile"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/nvvmir"
)

// program is what a client has handed over, and what came of it.
type program struct {
	mu     lockrank.Mutex[lockrank.NVVMProgram]
	units  []compile.NVVMUnit // guarded by mu
	texts  strings.Builder    // guarded by mu
	result string             // with the NUL behind a text; guarded by mu
	log    string             // guarded by mu
}

var programs = handle.NewTable[program](handle.NVVMProgram, "NVVM programs")

// none is the result of a program that was not compiled.
const none = "\x00"

// maxOptions bounds what a false count can make us read.
const maxOptions = 1 << 16

// find is a live program, locked.
func find(h uint64) (*program, error) {
	p := programs.Get(handle.Value(h))
	if p == nil {
		return nil, invalidProgram
	}
	p.mu.Lock()
	return p, nil
}

// CreateProgram makes an empty program.
func (t *Thread) CreateProgram() (uint64, error) {
	v := programs.New(&program{result: none})
	if v == 0 {
		return 0, noMemory
	}
	return uint64(v), nil
}

// DestroyProgram forgets a program, and clears the client's handle.
func (t *Thread) DestroyProgram(at hostmem.Ptr) error {
	if at == 0 || programs.Delete(handle.Value(hostmem.Load[uint64](at))) == nil {
		return invalidProgram
	}
	hostmem.Store[uint64](at, 0)
	return nil
}

// AddModuleToProgram adds a module: a text, or bitcode.
func (t *Thread) AddModuleToProgram(h uint64, buffer hostmem.Ptr, size uint64, name hostmem.Ptr) error {
	return add(h, buffer, size, name, false)
}

// LazyAddModuleToProgram adds a library, of which only what is needed is linked.
func (t *Thread) LazyAddModuleToProgram(h uint64, buffer hostmem.Ptr, size uint64, name hostmem.Ptr) error {
	return add(h, buffer, size, name, true)
}

func add(h uint64, buffer hostmem.Ptr, size uint64, name hostmem.Ptr, lazy bool) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	if buffer == 0 {
		return invalidInput
	}
	text := hostmem.Bytes(buffer, size)
	called := "<unnamed>"
	if name != 0 {
		called = hostmem.String(name)
	}
	p.units = append(p.units, compile.NVVMUnit{Name: called, Bytes: len(text), Lazy: lazy})
	p.texts.Write(text)
	return nil
}

// CompileProgram makes PTX of a program.
func (t *Thread) CompileProgram(h uint64, n int32, options hostmem.Ptr) error {
	return compileProgram(h, n, options, false)
}

// VerifyProgram looks for mistakes.
func (t *Thread) VerifyProgram(h uint64, n int32, options hostmem.Ptr) error {
	return compileProgram(h, n, options, true)
}

func compileProgram(h uint64, n int32, at hostmem.Ptr, verify bool) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	p.log = ""
	if !verify {
		p.result = none
	}
	if n < 0 || n > maxOptions || n > 0 && at == 0 {
		return invalidOption
	}
	var list []string
	for _, o := range hostmem.Slice[uint64](at, int(n)) {
		list = append(list, hostmem.String(hostmem.Ptr(o)))
	}
	o, err := nvvmir.Parse(list)
	if err != nil {
		p.log = err.Error()
		return invalidOption
	}
	if len(p.units) == 0 {
		return noModule
	}
	o.Verify = verify
	text, err := compiler.PTX(&compile.NVVM{Units: p.units, Options: *o}, p.texts.String())
	if err != nil {
		return p.failed(err, verify)
	}
	switch {
	case verify:
	case o.LTO:
		p.result = text
	default:
		p.result = text + "\x00"
	}
	return nil
}

// failed writes the log of a compilation that did not succeed. mu is held.
func (p *program) failed(err error, verify bool) error {
	p.log = err.Error()
	var ir *compile.IRError
	switch {
	case !errors.As(err, &ir):
		return notCompiled
	case ir.Version:
		return wrongVersion
	case verify:
		return invalidIR
	}
	return notCompiled
}

// GetCompiledResultSize is the result's size, with the NUL behind a text.
func (t *Thread) GetCompiledResultSize(h uint64) (uint64, error) {
	p, err := find(h)
	if err != nil {
		return 0, err
	}
	defer p.mu.Unlock()
	return uint64(len(p.result)), nil
}

// GetCompiledResult copies the result.
func (t *Thread) GetCompiledResult(h uint64, to hostmem.Ptr) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	return put(to, p.result)
}

// GetProgramLogSize is the log's size with the NUL behind it.
func (t *Thread) GetProgramLogSize(h uint64) (uint64, error) {
	p, err := find(h)
	if err != nil {
		return 0, err
	}
	defer p.mu.Unlock()
	return uint64(len(p.log)) + 1, nil
}

// GetProgramLog copies what the last compilation or verification said.
func (t *Thread) GetProgramLog(h uint64, to hostmem.Ptr) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	return put(to, p.log+"\x00")
}

// put copies a text.
func put(to hostmem.Ptr, text string) error {
	if to == 0 {
		return invalidInput
	}
	copy(hostmem.Bytes(to, uint64(len(text))), text)
	return nil
}
