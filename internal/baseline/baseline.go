// Package baseline makes machine code from the LLVM text that emit/warp writes, without LLVM: one pass over the text, a
// template an instruction, no optimisation. It is the tier that a kernel starts on while LLVM is still at work, and the
// only one on a machine without libLLVM.
//
// Every value has a slot in the function's frame, a vector of 32 lanes is as many vector registers' worth of it as it
// needs. Registers are a cache of the slots: what a block has in them is not loaded again, and a slot is written when its
// register is wanted or the block ends, if anything still reads it. Pointers at known distances are parts of the
// instructions that use them. The operations are those of the text, one by one and in its order, so results are those of the optimised code to the bit.
package baseline

import (
	"errors"
	"fmt"
	"strings"

	"kudzu/internal/baseline/x86"
	"kudzu/internal/image"
)

// Target is what the machine has.
type Target struct {
	AVX512   bool   // the four parts that emit/warp asks for: F, BW, DQ and VL
	AVX2     bool   // what came with it: x86-64-v3
	Features string // LLVM's list: "+avx2,+fma"
}

// TargetOf reads LLVM's list of features.
func TargetOf(features string) Target {
	t := Target{Features: features}
	t.AVX512 = t.Has("avx512f") && t.Has("avx512bw") && t.Has("avx512dq") && t.Has("avx512vl")
	t.AVX2 = t.Has("avx2") && t.Has("fma") && t.Has("f16c") && t.Has("lzcnt") && t.Has("bmi") && t.Has("popcnt")
	return t
}

// Has reports a feature by LLVM's name.
func (t Target) Has(feature string) bool {
	return strings.Contains(","+t.Features+",", ",+"+feature+",")
}

// Code is machine code: instructions, and from Text on the constants that they read.
type Code struct {
	Bytes []byte
	Text  uint32
	Entry uint32
	Lines []image.Line
}

// Unsupported is text that this compiler cannot translate.
type Unsupported struct{ What string }

// Error says what.
func (u *Unsupported) Error() string { return "baseline: " + u.What + " is not supported" }

func unsupportedf(format string, args ...any) *Unsupported {
	return &Unsupported{fmt.Sprintf(format, args...)}
}

// maxFrame bounds a function's frame: worker threads have stacks of a few megabytes.
const maxFrame = 1 << 20

// Compile translates the module in text, whose function entry is the kernel.
func Compile(text, entry string, t Target) (code *Code, err error) {
	defer func() {
		if p := recover(); p != nil {
			u, ok := p.(*Unsupported)
			if !ok {
				panic(p)
			}
			code, err = nil, u
		}
	}()
	if !t.AVX512 && !t.AVX2 {
		return nil, unsupportedf("a machine without AVX2")
	}
	r := read(text)
	m := &module{Asm: &x86.Asm{}, reader: r, target: t, places: map[int32]int32{}, entries: map[string]x86.Label{}}
	if !t.AVX512 {
		m.Refuse = func() { fail("an instruction of AVX-512 on a machine without it") }
	}
	for _, f := range r.funcs {
		m.entries[f.name] = m.NewLabel()
	}
	for _, f := range r.funcs {
		m.function(f, f.name == entry)
	}
	at, ok := m.entries[entry]
	if !ok {
		return nil, errors.New("baseline: no function " + entry)
	}
	for len(m.Code)%64 != 0 {
		m.Code = append(m.Code, 0xcc)
	}
	n := len(m.Code)
	m.Finish(int32(n))
	return &Code{Bytes: append(m.Code, m.pool...), Text: uint32(n), Entry: uint32(m.Offset(at)), Lines: m.lineTable}, nil
}

// module is a module being translated.
type module struct {
	*x86.Asm
	*reader
	target    Target
	pool      []byte          // constants behind the code
	places    map[int32]int32 // of constants in it
	words     map[string]int32
	entries   map[string]x86.Label
	lineTable []image.Line
}

// constantAt is where a constant lies in the pool: it can be read as whole vectors.
func (m *module) constantAt(con int32) int32 {
	if at, ok := m.places[con]; ok {
		return at
	}
	at := m.place(m.consts[con].data)
	m.places[con] = at
	return at
}

// place puts bytes into the pool, once.
func (m *module) place(data []byte) int32 {
	size := 64
	for size < len(data) {
		size += 64
	}
	if len(data) <= 8 {
		size = 16
	}
	padded := make([]byte, size)
	copy(padded, data)
	if at, ok := m.words[string(padded)]; ok {
		return at
	}
	for len(m.pool)%min(size, 64) != 0 {
		m.pool = append(m.pool, 0)
	}
	at := int32(len(m.pool))
	m.pool = append(m.pool, padded...)
	if m.words == nil {
		m.words = map[string]int32{}
	}
	m.words[string(padded)] = at
	return at
}

// line notes the source line of the code that follows.
func (m *module) line(debug int32) {
	n := m.lines[debug]
	if last := len(m.lineTable) - 1; last >= 0 {
		if m.lineTable[last].Line == uint32(n) {
			return
		}
		if m.lineTable[last].Offset == uint32(len(m.Code)) {
			m.lineTable[last].Line = uint32(n)
			return
		}
	}
	m.lineTable = append(m.lineTable, image.Line{Offset: uint32(len(m.Code)), Line: uint32(n)})
}
