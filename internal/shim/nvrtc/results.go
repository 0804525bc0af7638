package nvrtc

import (
	"fmt"
	"strings"
	"time"

	"kudzu/internal/assemble"
	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nvrtcapi"
)

// keep makes the results of code. mu is held.
func (p *program) keep(o *cudacc.Options, code *compile.CUDACode) error {
	switch {
	case o.LTO:
		p.lto = code.Code
		return nil
	case o.OptiX:
		p.log += "nvrtc: error: OptiX-IR is not made here\n"
		return notCompiled
	}
	p.ptx = code.Code + "\x00"
	if !o.Cubin || o.SyntaxOnly {
		return nil
	}
	start := time.Now()
	arch, _, ok := assemble.Arch("sm_" + o.Arch)
	if !ok {
		p.log += "ptxas fatal   : Unknown target sm_" + o.Arch + "\n"
		return notCompiled
	}
	f, err := assemble.Text(code.Code, assemble.Options{SM: arch.SM, Suffix: arch.Suffix, Relocatable: o.Relocatable, MaxRegisters: max(o.Registers, 0)})
	if err != nil {
		p.log += err.Error() + "\n"
		return notCompiled
	}
	if p.cubin, err = f.Encode(); err != nil {
		p.log += fmt.Sprintf("nvrtc: error: %v\n", err)
		return internal
	}
	if o.Verbose {
		for _, r := range assemble.Report(f, time.Since(start)) {
			lead := "ptxas info    : "
			if r.More {
				lead = strings.Repeat(" ", 4)
			}
			p.log += lead + r.Text + "\n"
		}
	}
	return nil
}

// What can be asked for. Preconditions: mu is held.

func (p *program) text() []byte     { return []byte(p.ptx) }
func (p *program) code() []byte     { return p.cubin }
func (p *program) forLink() []byte  { return []byte(p.lto) }
func (p *program) forOptiX() []byte { return nil }
func (p *program) said() []byte     { return []byte(p.log + "\x00") }

func size(h nvrtcapi.NvrtcProgram, out hostmem.Ptr, what func(*program) []byte) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	if out == hostmem.Nil {
		return invalidInput
	}
	hostmem.Store(out, uint64(len(what(p))))
	return nil
}

func write(h nvrtcapi.NvrtcProgram, out hostmem.Ptr, what func(*program) []byte) error {
	p, err := find(h)
	if err != nil {
		return err
	}
	defer p.mu.Unlock()
	if out == hostmem.Nil {
		return invalidInput
	}
	b := what(p)
	copy(hostmem.Bytes(out, uint64(len(b))), b)
	return nil
}

// GetPTXSize is the size of the PTX, with the NUL behind it.
func (t *Thread) GetPTXSize(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return size(h, out, (*program).text)
}

// GetPTX copies the PTX.
func (t *Thread) GetPTX(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return write(h, out, (*program).text)
}

// GetCUBINSize is the size of the assembler's file, 0 where no code was asked for.
func (t *Thread) GetCUBINSize(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return size(h, out, (*program).code)
}

// GetCUBIN copies the file.
func (t *Thread) GetCUBIN(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return write(h, out, (*program).code)
}

// GetLTOIRSize is the size of what -dlto asked for.
func (t *Thread) GetLTOIRSize(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return size(h, out, (*program).forLink)
}

// GetLTOIR copies it.
func (t *Thread) GetLTOIR(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return write(h, out, (*program).forLink)
}

// GetOptiXIRSize is 0: there is none.
func (t *Thread) GetOptiXIRSize(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return size(h, out, (*program).forOptiX)
}

// GetOptiXIR copies nothing.
func (t *Thread) GetOptiXIR(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return write(h, out, (*program).forOptiX)
}

// GetProgramLogSize is the log's size, with the NUL behind it.
func (t *Thread) GetProgramLogSize(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return size(h, out, (*program).said)
}

// GetProgramLog copies what the last compilation said.
func (t *Thread) GetProgramLog(h nvrtcapi.NvrtcProgram, out hostmem.Ptr) error {
	return write(h, out, (*program).said)
}
