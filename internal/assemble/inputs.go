package assemble

import (
	"bytes"
	"errors"
	"strings"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
)

// NotAnImage is the error for bytes that hold no code, or damaged code. What holds only machine code is a *cubin.Foreign.
type NotAnImage struct{ Why string }

func (n *NotAnImage) Error() string { return "Binary format is not recognized: " + n.Why }

// deviceRuntimeMark is in the vendor's own device runtime (libcudadevrt.a) and nowhere else: its calls into their driver. Ours
// answers the functions that it would define. deviceRuntimeObject is its member there: some releases have it for newer machines
// only, without a text that could be looked at.
const (
	deviceRuntimeMark   = "__cuda_syscall_cnp"
	deviceRuntimeObject = "cuda_device_runtime.o"
)

// IsDeviceRuntime reports whether a text is the vendor's device runtime.
func IsDeviceRuntime(text string) bool { return strings.Contains(text, deviceRuntimeMark) }

// Texts finds the PTX in an image of known length: PTX, a fat binary, a file of ours, a host object, or an archive, which may hold
// several. Where there is a choice, pick makes it. The vendor's device runtime is left out.
func Texts(b []byte, pick func(*fatbin.Container) (string, error)) ([]string, error) {
	switch fatbin.Sniff(b) {
	case fatbin.FormatFatbin:
		cs, err := fatbin.FromBytes(b)
		if err != nil {
			return nil, &NotAnImage{err.Error()}
		}
		return containers(cs, pick)
	case fatbin.FormatELF:
		return objectTexts(b, pick)
	case fatbin.FormatArchive:
		members, err := fatbin.Members(b)
		if err != nil {
			return nil, &NotAnImage{err.Error()}
		}
		var all []string
		for _, m := range members {
			if fatbin.Sniff(m.Data) != fatbin.FormatELF || m.Name == deviceRuntimeObject {
				continue
			}
			texts, err := objectTexts(m.Data, pick)
			if err != nil {
				return nil, err
			}
			all = append(all, texts...)
		}
		return all, nil
	case fatbin.FormatWrapper:
		return nil, &NotAnImage{"a wrapper"}
	}
	text, _, _ := bytes.Cut(b, []byte{0})
	return one(string(text))
}

// TextsFor is Texts with the text of each fat binary that an architecture runs best.
func TextsFor(b []byte, sm int) ([]string, error) {
	return Texts(b, func(c *fatbin.Container) (string, error) {
		choice, err := fatbin.Choose([]*fatbin.Container{c}, sm)
		if err != nil {
			return "", err
		}
		return choice.Own(), nil
	})
}

func one(text string) ([]string, error) {
	if err := Plausible(text); err != nil {
		return nil, err
	}
	return []string{text}, nil
}

func containers(cs []*fatbin.Container, pick func(*fatbin.Container) (string, error)) ([]string, error) {
	var texts []string
	for _, c := range cs {
		text, err := pick(c)
		if err != nil {
			return nil, err
		}
		if !IsDeviceRuntime(text) {
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// objectTexts finds the PTX in a file of our assembler, or in a host object. Machine code without PTX cannot be linked.
func objectTexts(b []byte, pick func(*fatbin.Container) (string, error)) ([]string, error) {
	text, err := cubin.Text(b)
	if err == nil {
		return one(text)
	}
	cs, other := fatbin.FromObject(b)
	var foreign *cubin.Foreign
	switch {
	case cubin.Ours(b):
		return nil, &NotAnImage{err.Error()}
	case errors.As(err, &foreign) && foreign.Machine == cubin.Machine:
		return nil, foreign
	case other != nil:
		return nil, &NotAnImage{other.Error()}
	case len(cs) == 0:
		return nil, &cubin.Foreign{What: "a host object without device code"}
	}
	return containers(cs, pick)
}

// Plausible refuses text that does not begin as PTX does; the rest is the parser's.
func Plausible(text string) error {
	for rest := text; ; {
		rest = strings.TrimLeft(rest, " \t\r\n\f\v")
		switch {
		case strings.HasPrefix(rest, ".version"):
			return nil
		case strings.HasPrefix(rest, "//"):
			_, rest, _ = strings.Cut(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			_, rest, _ = strings.Cut(rest[2:], "*/")
		default:
			return &NotAnImage{"no .version directive at the start"}
		}
	}
}
