package driver

import (
	"errors"
	"fmt"
	"io"
	"os"

	"kudzu/internal/assemble"
	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/logx"
	"kudzu/internal/pack"
	"kudzu/internal/ptx"
)

// maxPrelinked bounds the list of containers behind a wrapper of version 2.
const maxPrelinked = 4096

// badImage is an image with no usable code. Its text goes to the JIT's error log.
type badImage struct {
	code Result
	text string
}

func (b *badImage) Error() string { return b.text }
func (b *badImage) Unwrap() error { return b.code }

func notAnImage(why string) error {
	return &badImage{errInvalidImage, "error   : Binary format is not recognized: " + why}
}

// readImage finds the PTX for a device in memory that the program passed without a length. For machine code only, a pack may have it.
func readImage(p hostmem.Ptr, c claim) (string, error) {
	text, err := readCode(p, c)
	if noPTX(err) && pack.Any() {
		if text, ok := packedImage(p); ok {
			return text, nil
		}
	}
	return text, err
}

// readCode is readImage without packs.
func readCode(p hostmem.Ptr, c claim) (string, error) {
	if p == hostmem.Nil {
		return "", errInvalidValue
	}
	switch fatbin.Sniff(firstBytes(p)) {
	case fatbin.FormatWrapper:
		return readWrapper(p, c)
	case fatbin.FormatFatbin:
		one, err := readContainer(p)
		if err != nil {
			return "", notAnImage(err.Error())
		}
		return choose([]*fatbin.Container{one}, c)
	case fatbin.FormatELF:
		n, err := fatbin.ELFSize(hostmem.Bytes(p, fatbin.ELFHeaderSize))
		if err != nil || n > fatbin.MaxText {
			return "", machineCodeOnly("")
		}
		return assembled(hostmem.Bytes(p, n))
	case fatbin.FormatArchive:
		return "", machineCodeOnly("an archive")
	}
	n := hostmem.TextLen(p, fatbin.MaxText)
	if n == fatbin.MaxText {
		return "", notAnImage("text without an end")
	}
	return plausible(hostmem.Text(p, n))
}

// indexText finds what is in a text, without remnants of memory behind its end: programs that take what they load for machine
// code, which has its length in itself, put no NUL after it.
func indexText(text string) (*ptx.Index, string, error) {
	idx, err := ptx.IndexModule(text)
	if err == nil {
		return idx, text, nil
	}
	if module, ok := ptx.CutTail(text); ok {
		if idx, err := ptx.IndexModule(module); err == nil {
			logx.Debugf("a module of %d bytes of PTX, %d bytes behind its end left out", len(module), len(text)-len(module))
			return idx, module, nil
		}
	}
	return nil, text, err
}

// machineCodeOnly refuses an image; what says what it is, where that is known.
func machineCodeOnly(what string) error {
	if what != "" {
		what = " (" + what + ")"
	}
	return &badImage{errNoBinary, "error   : the image holds machine code only; PTX is needed" + what}
}

// assembled is the PTX of a file that our assembler or linker made; other ELF files are refused.
func assembled(b []byte) (string, error) {
	text, err := cubin.Text(b)
	var foreign *cubin.Foreign
	switch {
	case errors.As(err, &foreign):
		return "", machineCodeOnly(foreign.What)
	case err != nil && !cubin.Ours(b): // nobody's file: no word on what is wrong with it
		return "", machineCodeOnly("")
	case err != nil:
		return "", notAnImage(err.Error())
	}
	return plausible(text)
}

// firstBytes reads no further than the image is known to go: byte by byte to the first NUL.
func firstBytes(p hostmem.Ptr) []byte {
	var b []byte
	for i := range uint64(fatbin.SniffSize) {
		c := hostmem.Load[byte](p.Add(i))
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return b
}

func readWrapper(p hostmem.Ptr, c claim) (string, error) {
	w, err := fatbin.ParseWrapper(hostmem.Bytes(p, fatbin.WrapperSize))
	if err != nil {
		return "", notAnImage(err.Error())
	}
	at := []hostmem.Ptr{hostmem.Ptr(w.Data)}
	if w.Version == 2 {
		at = nil
		for i := range maxPrelinked {
			q := hostmem.Load[hostmem.Ptr](hostmem.Ptr(w.Extra).Index(i, 8))
			if q == hostmem.Nil {
				break
			}
			at = append(at, q)
		}
	}
	var cs []*fatbin.Container
	for _, q := range at {
		one, err := readContainer(q)
		if err != nil {
			return "", notAnImage(err.Error())
		}
		cs = append(cs, one)
	}
	if w.Version == 2 {
		return linkContainers(cs, c)
	}
	return choose(cs, c)
}

// linkContainers makes one text of the containers of separately compiled units, each with its own choice of code. One that
// holds only machine code is the result of the vendor's linking, or a library that we have our own of.
func linkContainers(cs []*fatbin.Container, dev claim) (string, error) {
	var parts []ptx.Part
	var none error
	for i, c := range cs {
		text, err := choose([]*fatbin.Container{c}, dev)
		var b *badImage
		switch {
		case errors.As(err, &b) && b.code == errNoBinary:
			none = err
			continue
		case err != nil:
			return "", err
		}
		if assemble.IsDeviceRuntime(text) {
			continue
		}
		_, text, _ = indexText(text) // what is wrong with it the linking says
		parts = append(parts, ptx.Part{Name: fmt.Sprintf("unit %d", i+1), Text: text})
	}
	if len(parts) == 0 {
		if none == nil {
			none = notAnImage("a wrapper without containers")
		}
		return "", none
	}
	return linkText(parts)
}

// linkText is assemble.Link with its errors as those of images.
func linkText(parts []ptx.Part) (string, error) {
	text, err := assemble.Link(parts)
	var clash *ptx.LinkError
	if errors.As(err, &clash) {
		code := errInvalidPTX
		if clash.Prototype {
			code = errInvalidSource
		}
		err = &badImage{code, "error   : " + clash.Error()}
	}
	return text, err
}

func readContainer(p hostmem.Ptr) (*fatbin.Container, error) {
	n, err := fatbin.Size(hostmem.Bytes(p, fatbin.HeaderSize))
	if err != nil {
		return nil, err
	}
	return fatbin.Parse(hostmem.Bytes(p, n))
}

// choose takes the best PTX, as text of our own: the program may free the image after the load.
func choose(cs []*fatbin.Container, dev claim) (string, error) {
	c, err := fatbin.Choose(cs, dev.sm)
	var none *fatbin.NoCode
	switch {
	case errors.As(err, &none):
		return "", &badImage{errNoBinary, "error   : " + err.Error()}
	case err != nil:
		return "", notAnImage(err.Error())
	case c.Against && dev.ownPTX:
		return "", &badImage{errNoBinary, fmt.Sprintf("error   : no PTX that compute capability %s can use; the nearest is for %s", dev, c.Target)}
	}
	return plausible(c.Own())
}

// takes says whether a device takes text for a target. Ours run every text they can read: one that is not for the device is
// taken, once with a word, because nothing else was there to choose and a program that does not look at errors would go on
// with memory that no kernel has written. Where the program names a target itself, or a vendor's driver compiles, the
// answer is the real one.
func takes(dev claim, t fatbin.Target, j *jit) error {
	sm := dev.sm
	if j.target != 0 {
		sm = j.target
	}
	switch {
	case t.Runs(sm):
		return nil
	case j.target != 0 || dev.ownPTX:
		return jitFatal("SM version specified by .target is higher than default SM version assumed")
	}
	logx.Once("PTX against the claim", "PTX for %s is taken although the device claims compute capability %s, on which a GPU would refuse it; KUDZU_COMPUTE_CAPABILITY=%d.%d claims what the code is for",
		t, dev, t.SM/10, t.SM%10)
	return nil
}

// plausible refuses text that does not begin as PTX does.
func plausible(text string) (string, error) {
	var not *assemble.NotAnImage
	if err := assemble.Plausible(text); errors.As(err, &not) {
		return "", notAnImage(not.Why)
	}
	return text, nil
}

// readFile finds the PTX for a device in a file.
func readFile(name string, c claim) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", errFileNotFound
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, fatbin.MaxText+1))
	if err != nil {
		return "", errFileNotFound
	}
	if len(b) > fatbin.MaxText {
		return "", notAnImage("file too large")
	}
	text, err := fileText(b, c)
	if noPTX(err) && pack.Any() {
		if text, ok := packedFile(name, b); ok {
			return text, nil
		}
	}
	return text, err
}

// fileText is the PTX in a file's bytes.
func fileText(b []byte, c claim) (string, error) {
	switch fatbin.Sniff(b) {
	case fatbin.FormatELF:
		return assembled(b)
	case fatbin.FormatArchive:
		return "", machineCodeOnly("an archive")
	}
	texts, err := textsOf(b, c) // a wrapper's pointers mean nothing in a file
	if err != nil {
		return "", err
	}
	return texts[0], nil
}
