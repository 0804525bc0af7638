package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"kudzu/internal/devrt"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
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

// readImage finds the PTX for a device in memory that the program passed without a length.
func readImage(p hostmem.Ptr, sm int) (string, error) {
	if p == hostmem.Nil {
		return "", errInvalidValue
	}
	switch fatbin.Sniff(firstBytes(p)) {
	case fatbin.FormatWrapper:
		return readWrapper(p, sm)
	case fatbin.FormatFatbin:
		c, err := readContainer(p)
		if err != nil {
			return "", notAnImage(err.Error())
		}
		return choose([]*fatbin.Container{c}, sm)
	case fatbin.FormatELF, fatbin.FormatArchive:
		return "", machineCodeOnly()
	}
	n, ok := textLen(p)
	if !ok {
		return "", notAnImage("text without an end")
	}
	return plausible(hostmem.Text(p, n))
}

// textLen is the length of a text that ends with a NUL. It goes page by page, because the bytes after the end may not be
// ours to touch; the copy is made once, with the length known: modules of 10 MB are usual.
func textLen(p hostmem.Ptr) (uint64, bool) {
	const page = 4096
	for n := uint64(0); n < fatbin.MaxText; {
		at := p.Add(n)
		part := hostmem.Bytes(at, page-uint64(at)%page)
		if i := bytes.IndexByte(part, 0); i >= 0 {
			return n + uint64(i), true
		}
		n += uint64(len(part))
	}
	return 0, false
}

func machineCodeOnly() error {
	return &badImage{errNoBinary, "error   : the image holds machine code only; PTX is needed"}
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

func readWrapper(p hostmem.Ptr, sm int) (string, error) {
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
		c, err := readContainer(q)
		if err != nil {
			return "", notAnImage(err.Error())
		}
		cs = append(cs, c)
	}
	if w.Version == 2 {
		return linkContainers(cs, sm)
	}
	return choose(cs, sm)
}

// deviceRuntimeMark is in the vendor's own device runtime (libcudadevrt.a) and nowhere else: its calls into their driver. Ours
// answers the functions that it would define.
const deviceRuntimeMark = "__cuda_syscall_cnp"

// linkContainers makes one text of the containers of separately compiled units, each with its own choice of code. One that
// holds only machine code is the result of the vendor's linking, or a library that we have our own of.
func linkContainers(cs []*fatbin.Container, sm int) (string, error) {
	var parts []ptx.Part
	var none error
	for i, c := range cs {
		text, err := choose([]*fatbin.Container{c}, sm)
		var b *badImage
		switch {
		case errors.As(err, &b) && b.code == errNoBinary:
			none = err
			continue
		case err != nil:
			return "", err
		}
		if strings.Contains(text, deviceRuntimeMark) {
			continue
		}
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

// linkText is ptx.Link with its errors as those of images.
func linkText(parts []ptx.Part) (string, error) {
	texts := make([]string, len(parts))
	for i := range parts {
		texts[i] = parts[i].Text
	}
	if g := devrt.Groups(texts...); g != "" {
		parts = append(slices.Clone(parts), ptx.Part{Name: "device runtime", Text: g})
	}
	text, err := ptx.Link(parts)
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

// choose takes the best PTX. The copy into a string is ours: the program may free the image after the load.
func choose(cs []*fatbin.Container, sm int) (string, error) {
	c, err := fatbin.Choose(cs, sm)
	var none *fatbin.NoCode
	switch {
	case errors.As(err, &none):
		return "", &badImage{errNoBinary, "error   : " + err.Error()}
	case err != nil:
		return "", notAnImage(err.Error())
	}
	return plausible(string(c.Text))
}

// plausible refuses text that does not begin as PTX does; the rest is the parser's.
func plausible(text string) (string, error) {
	for rest := text; ; {
		rest = strings.TrimLeft(rest, " \t\r\n\f\v")
		switch {
		case strings.HasPrefix(rest, ".version"):
			return text, nil
		case strings.HasPrefix(rest, "//"):
			_, rest, _ = strings.Cut(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			_, rest, _ = strings.Cut(rest[2:], "*/")
		default:
			return "", notAnImage("no .version directive at the start")
		}
	}
}

// readFile finds the PTX for a device in a file.
func readFile(name string, sm int) (string, error) {
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
	if f := fatbin.Sniff(b); f == fatbin.FormatELF || f == fatbin.FormatArchive {
		return "", machineCodeOnly()
	}
	texts, err := textsOf(b, sm) // a wrapper's pointers mean nothing in a file
	if err != nil {
		return "", err
	}
	return texts[0], nil
}
