package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"kudzu/internal/assemble"
	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/ptx"
	"kudzu/internal/spec/cu"
)

// Linker makes one image of several: a file of our assembler, which every call that loads an image takes, as it is where the real
// driver gives a cubin.
type Linker struct {
	state *state
	dev   claim
	jit   *jit

	mu     lockrank.Mutex[lockrank.DriverLinker]
	parts  []ptx.Part // guarded by mu, as the rest
	bad    error      // what an input answered: it spoils the link
	image  uint64
	length uint64
}

func (t *Thread) linker(h cu.CUlinkState) (*Linker, error) {
	s, err := t.enter()
	if err != nil {
		return nil, err
	}
	if l := s.linkers.Get(handleValue(h)); l != nil {
		return l, nil
	}
	return nil, errInvalidHandle
}

// LinkCreate begins a link. Its log buffers are written when it completes.
func (t *Thread) LinkCreate(n uint32, options, values hostmem.Ptr) (cu.CUlinkState, error) {
	c, err := t.context()
	if err != nil {
		return 0, err
	}
	j, err := newJIT(n, options, values)
	if err != nil {
		return 0, err
	}
	h := c.state.linkers.New(&Linker{state: c.state, dev: c.dev.claim(), jit: j})
	if h == 0 {
		return 0, errOutOfMemory
	}
	return cu.CUlinkState(h), nil
}

// LinkAddData adds an image. Options of single inputs change nothing here, but must be well-formed.
func (t *Thread) LinkAddData(h cu.CUlinkState, kind cu.CUjitInputType, data hostmem.Ptr, size uint64, name hostmem.Ptr, n uint32, options, values hostmem.Ptr) error {
	l, err := t.linker(h)
	if err != nil {
		return err
	}
	if _, err := newJIT(n, options, values); err != nil {
		return err
	}
	if data == hostmem.Nil || size == 0 || size > fatbin.MaxText {
		return errInvalidValue
	}
	label := ""
	if name != hostmem.Nil {
		label = hostmem.String(name)
	}
	return l.add(kind, bytes.Clone(hostmem.Bytes(data, size)), label)
}

// LinkAddFile adds an image from a file.
func (t *Thread) LinkAddFile(h cu.CUlinkState, kind cu.CUjitInputType, path string, n uint32, options, values hostmem.Ptr) error {
	l, err := t.linker(h)
	if err != nil {
		return err
	}
	if _, err := newJIT(n, options, values); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return errFileNotFound
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, fatbin.MaxText+1))
	switch {
	case err != nil:
		return errFileNotFound
	case len(b) > fatbin.MaxText:
		return errInvalidImage
	}
	return l.add(kind, b, path)
}

// add takes one input. What it is shows in its bytes; the kind only rules out what cannot be.
func (l *Linker) add(kind cu.CUjitInputType, b []byte, name string) error {
	if kind < cu.CU_JIT_INPUT_CUBIN || kind > cu.CU_JIT_INPUT_NVVM {
		return errInvalidValue
	}
	texts, err := textsOf(b, l.dev)
	if kind == cu.CU_JIT_INPUT_NVVM {
		err = errNotSupported
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.image != 0:
		return errInvalidValue // complete
	case err != nil:
		err = l.jit.finish(err)
		if l.bad == nil {
			l.bad = err
		}
		if kind == cu.CU_JIT_INPUT_OBJECT { // looked at when the link completes, as the real driver has it
			return nil
		}
		return err
	case l.bad != nil:
		return l.bad
	}
	if name == "" {
		name = fmt.Sprintf("input %d", len(l.parts)+1)
	}
	library := fatbin.Sniff(b) == fatbin.FormatArchive
	for _, text := range texts {
		if err := l.addText(name, text, library); err != nil {
			return err
		}
	}
	return nil
}

// addText takes one text. Of a library, what defines a name again is left out, as linkers do.
//
// Preconditions: l.mu is held.
func (l *Linker) addText(name, text string, library bool) error {
	_, text, _ = indexText(text) // what is wrong with it the linking says
	l.parts = append(l.parts, ptx.Part{Name: name, Text: text})
	if n := len(l.parts); n > 1 && n <= triedParts {
		var clash *ptx.LinkError
		if _, err := ptx.Link(l.parts); errors.As(err, &clash) {
			if library {
				l.parts = l.parts[:n-1]
				return nil
			}
			_, err = linkText(l.parts)
			l.bad = l.jit.finish(err)
			if !clash.Prototype {
				l.bad = errUnknown // what the real driver answers to a name that is defined twice
			}
			return l.bad
		}
	}
	return nil
}

// triedParts is up to how many inputs are linked together at each new one, to tell then that it does not fit. With more the
// answer comes when the link completes, so that many inputs do not take the square of their time.
const triedParts = 16

// textsOf finds the PTX in an image of known length; an archive may hold several.
func textsOf(b []byte, c claim) ([]string, error) {
	texts, err := assemble.Texts(b, func(f *fatbin.Container) (string, error) { return choose([]*fatbin.Container{f}, c) })
	var not *assemble.NotAnImage
	var foreign *cubin.Foreign
	switch {
	case errors.As(err, &not):
		err = notAnImage(not.Why)
	case errors.As(err, &foreign):
		err = machineCodeOnly(foreign.What)
	}
	return texts, err
}

// LinkComplete makes the image and writes its address. It is the linker's, until LinkDestroy.
func (t *Thread) LinkComplete(h cu.CUlinkState, out hostmem.Ptr) (uint64, error) {
	l, err := t.linker(h)
	if err != nil {
		return 0, err
	}
	if out == hostmem.Nil {
		return 0, errInvalidValue
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.image == 0 {
		if err := l.link(); err != nil {
			return 0, err
		}
	}
	hostmem.Store(out, l.image)
	return l.length, nil
}

// Preconditions: l.mu is held.
func (l *Linker) link() error {
	if l.bad != nil {
		return l.bad
	}
	if len(l.parts) == 0 { // nothing makes an image of nothing
		l.parts = []ptx.Part{{Name: "nothing", Text: emptyModule}}
	}
	text, err := linkText(l.parts)
	if n := l.jit.opts.MaxRegisters; err == nil && n > 0 {
		text, err = ptx.LimitRegisters(text, n)
	}
	if err == nil {
		_, err = describe("linked", text, l.dev, l.jit)
	}
	var missing *unresolvedName
	open := errors.As(err, &missing)
	if err := l.jit.finish(err); err != nil {
		if open {
			return errInvalidSource // to a linker a missing name is not bad PTX
		}
		return err
	}
	file, err := assemble.Text(text, assemble.Options{SM: l.dev.sm, Checked: true})
	if err != nil {
		return errInvalidPTX
	}
	image, err := file.Encode()
	if err != nil {
		return errInvalidImage
	}
	addr, _, err := mapHost(uint64(len(image)))
	if err != nil {
		return err
	}
	copy(hostmem.Bytes(hostmem.Ptr(addr), uint64(len(image))), image)
	l.image, l.length, l.parts = addr, uint64(len(image)), nil
	return nil
}

// emptyModule is PTX without anything.
const emptyModule = ".version 6.0\n.target sm_30\n.address_size 64\n"

// LinkDestroy ends a link and its image.
func (t *Thread) LinkDestroy(h cu.CUlinkState) error {
	l, err := t.linker(h)
	if err != nil {
		return err
	}
	if l.state.linkers.Delete(handleValue(h)) == nil {
		return errInvalidHandle
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.image != 0 {
		page := uint64(os.Getpagesize())
		unmapHost(l.image, (l.length+page-1)&^(page-1))
		l.image = 0
	}
	return nil
}
