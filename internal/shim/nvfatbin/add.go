package nvfatbin

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/nvvmir"
	"kudzu/internal/spec/fb"
)

// Kinds of entries that nothing here runs: they are kept for those who read them.
const (
	kindLTOIR  fatbin.Kind = 8
	kindTileIR fatbin.Kind = 128
)

// What begins LTO-IR and Tile IR of NVIDIA's.
const (
	ltoMagic  = "\xed\x43\x4e\x7f"
	tileMagic = "\x7fTileIR\x00"
)

// Flags of an entry for one architecture alone, and for its family.
const (
	flagOnly   = 0x100000
	flagFamily = 0x200000
)

// The version that entries with ELF files say their form has.
const elfMajor, elfMinor = 1, 8

// input is what every function that adds gets.
type input struct {
	data         []byte
	sm           int
	flags        uint64 // of the architecture
	name, option string
}

// take reads an input; arch is NULL-checked only where the function has one. The order of the checks is the library's.
func (b *binary) take(code hostmem.Ptr, size uint64, arch *hostmem.Ptr, name, option hostmem.Ptr) (*input, error) {
	if code == hostmem.Nil || arch != nil && *arch == hostmem.Nil {
		return nil, null
	}
	if size == 0 {
		return nil, empty
	}
	if size > fatbin.MaxText {
		return nil, internal
	}
	in := &input{sm: tileArch}
	if arch != nil {
		var ok bool
		if in.sm, in.flags, ok = architecture(hostmem.String(*arch)); !ok {
			return nil, badArch
		}
	}
	if name != hostmem.Nil {
		in.name = hostmem.String(name)
	}
	if option != hostmem.Nil {
		in.option = hostmem.String(option)
	}
	in.data = bytes.Clone(hostmem.Bytes(code, size))
	return in, nil
}

// tileArch is what entries of Tile IR are for.
const tileArch = 80

// architecture reads 90a: a number, which may be missing, and a letter.
func architecture(s string) (sm int, flags uint64, ok bool) {
	if number, only := strings.CutSuffix(s, "a"); only {
		s, flags = number, flagOnly
	} else if number, family := strings.CutSuffix(s, "f"); family {
		s, flags = number, flagFamily
	}
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if s == "" {
		return 0, flags, true
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), flags, err == nil && n >= 0
}

// add keeps an entry.
func (b *binary) add(p fatbin.Part, in *input, text bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.SM, p.Name, p.Exact = in.sm, in.name, true
	p.Flags = b.opts.entry(text) | in.flags
	p.Data = in.data
	if p.Flags&fatbin.FlagLZ4 != 0 && !fatbin.Shrinks(in.data) {
		p.Flags &^= fatbin.FlagLZ4
	}
	b.parts = append(b.parts, p)
}

// AddPTX adds PTX, whose size may have the NUL behind it in it. The text is not looked at any further than its version.
func (t *Thread) AddPTX(h fb.NvFatbinHandle, code hostmem.Ptr, size uint64, arch, name, option hostmem.Ptr) error {
	b, err := find(h)
	if err != nil {
		return err
	}
	in, err := b.take(code, size, &arch, name, option)
	if err != nil {
		return err
	}
	if in.data[0] == 0 && len(in.data) == 1 {
		return empty
	}
	in.data = bytes.TrimSuffix(in.data, []byte{0})
	p := fatbin.Part{Kind: fatbin.PTX, Options: &in.option}
	_, rest, _ := bytes.Cut(in.data, []byte(".version"))
	line, _, _ := bytes.Cut(bytes.TrimLeft(rest, " \t"), []byte("\n"))
	if _, err := fmt.Sscanf(string(line), "%d.%d", &p.Major, &p.Minor); err != nil {
		return noVersion
	}
	b.add(p, in, true)
	return nil
}

// wideClass is the byte of an ELF file's header with the size of addresses, and its value for 64 bits.
const (
	classAt   = 4
	wideClass = 2
)

// AddCubin adds machine code of NVIDIA's, or a file of our assembler.
func (t *Thread) AddCubin(h fb.NvFatbinHandle, code hostmem.Ptr, size uint64, arch, name hostmem.Ptr) error {
	b, err := find(h)
	if err != nil {
		return err
	}
	in, err := b.take(code, size, &arch, name, hostmem.Nil)
	if err != nil {
		return err
	}
	class := byte(wideClass)
	if b.opts.narrow {
		class = 1
	}
	if len(in.data) <= classAt || in.data[classAt] != class {
		return otherSize
	}
	if sm, ok := cubin.Arch(in.data); !ok || sm != in.sm {
		return otherArch
	}
	b.add(fatbin.Part{Kind: fatbin.ELF, Major: elfMajor, Minor: elfMinor}, in, false)
	return nil
}

// AddLTOIR adds what libNVVM makes for linking, ours or NVIDIA's.
func (t *Thread) AddLTOIR(h fb.NvFatbinHandle, code hostmem.Ptr, size uint64, arch, name, option hostmem.Ptr) error {
	b, err := find(h)
	if err != nil {
		return err
	}
	in, err := b.take(code, size, &arch, name, option)
	if err != nil {
		return err
	}
	const shortest, headed = 8, 64
	_, ours := nvvmir.FromLTO(string(in.data))
	theirs := len(in.data) >= headed && bytes.HasPrefix(in.data, []byte(ltoMagic))
	switch {
	case len(in.data) < shortest:
		return badIR
	case !ours && !theirs:
		return internal
	}
	b.add(fatbin.Part{Kind: kindLTOIR, Options: &in.option}, in, true)
	return nil
}

// AddIndex refuses: nobody can make an index.
func (t *Thread) AddIndex(h fb.NvFatbinHandle, code hostmem.Ptr, size uint64, name hostmem.Ptr) error {
	b, err := find(h)
	if err != nil {
		return err
	}
	if _, err := b.take(code, size, nil, name, hostmem.Nil); err != nil {
		return err
	}
	return badIndex
}

// AddTileIR adds Tile IR. Nothing here runs it.
func (t *Thread) AddTileIR(h fb.NvFatbinHandle, code hostmem.Ptr, size uint64, name, option hostmem.Ptr) error {
	b, err := find(h)
	if err != nil {
		return err
	}
	in, err := b.take(code, size, nil, name, option)
	switch {
	case err != nil:
		return err
	case !bytes.HasPrefix(in.data, []byte(tileMagic)):
		return internal
	}
	b.add(fatbin.Part{Kind: kindTileIR, Options: &in.option}, in, true)
	return nil
}

// AddReloc adds the PTX of a host object's fat binaries.
func (t *Thread) AddReloc(h fb.NvFatbinHandle, code hostmem.Ptr, size uint64) error {
	b, err := find(h)
	if err != nil {
		return err
	}
	in, err := b.take(code, size, nil, hostmem.Nil, hostmem.Nil)
	if err != nil {
		return err
	}
	if fatbin.Sniff(in.data) != fatbin.FormatELF {
		return empty
	}
	cs, err := fatbin.FromObject(in.data)
	if err != nil {
		return internal
	}
	type label struct {
		name string
		sm   int
	}
	seen := map[label]bool{}
	var parts []fatbin.Part
	for _, c := range cs {
		for i := range c.Entries {
			e := &c.Entries[i]
			if e.Kind != fatbin.PTX {
				continue
			}
			text, err := e.Text()
			if err != nil {
				return internal
			}
			l := label{e.Name, e.SM}
			if seen[l] {
				return usedName
			}
			seen[l] = true
			parts = append(parts, fatbin.Part{Kind: e.Kind, SM: e.SM, Major: e.Major, Minor: e.Minor, Name: e.Name, Options: new(string), Exact: true,
				Flags: e.Flags &^ (fatbin.FlagLZ4 | fatbin.FlagZstd), Data: bytes.TrimRight(text, "\x00")})
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts = append(b.parts, parts...)
	return nil
}
