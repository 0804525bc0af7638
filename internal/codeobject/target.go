package codeobject

import (
	"fmt"
	"strings"
)

// Target is what a code object is for: a processor and what of its settings the code depends on.
type Target struct {
	Processor
	XNACK   Setting // replay of page faults
	SRAMECC Setting
}

// Setting is a feature that code may depend on.
type Setting uint8

// The settings. Any runs with the feature on or off.
const (
	None Setting = iota // the processor does not have it
	Any
	Off
	On
)

// Processor is one row of the table of processors.
type Processor struct {
	Name    string // gfx1100
	Mach    uint32 // EF_AMDGPU_MACH
	Wave    int    // lanes of a wave by default: 32 for RDNA, 64 before and for CDNA
	Family  string // GCN, CDNA, RDNA1 …
	Generic string // the processor that runs here too, "" if there is none
	XNACK   bool
	SRAMECC bool
}

// Processors are the processors of ROCm from gfx900 on (LLVM's AMDGPU usage guide, "Processors", and its ELF header flags).
var Processors = []Processor{
	{"gfx900", 0x02c, 64, "GCN5", "gfx9-generic", true, false},
	{"gfx902", 0x02d, 64, "GCN5", "gfx9-generic", true, false},
	{"gfx904", 0x02e, 64, "GCN5", "gfx9-generic", true, false},
	{"gfx906", 0x02f, 64, "GCN5", "gfx9-generic", true, true},
	{"gfx909", 0x031, 64, "GCN5", "gfx9-generic", true, false},
	{"gfx90c", 0x032, 64, "GCN5", "gfx9-generic", true, false},
	{"gfx908", 0x030, 64, "CDNA1", "", true, true},
	{"gfx90a", 0x03f, 64, "CDNA2", "", true, true},
	{"gfx942", 0x04c, 64, "CDNA3", "gfx9-4-generic", true, true},
	{"gfx950", 0x04f, 64, "CDNA4", "gfx9-4-generic", true, true},
	{"gfx1010", 0x033, 32, "RDNA1", "gfx10-1-generic", true, false},
	{"gfx1011", 0x034, 32, "RDNA1", "gfx10-1-generic", true, false},
	{"gfx1012", 0x035, 32, "RDNA1", "gfx10-1-generic", true, false},
	{"gfx1013", 0x042, 32, "RDNA1", "gfx10-1-generic", true, false},
	{"gfx1030", 0x036, 32, "RDNA2", "gfx10-3-generic", false, false},
	{"gfx1031", 0x037, 32, "RDNA2", "gfx10-3-generic", false, false},
	{"gfx1032", 0x038, 32, "RDNA2", "gfx10-3-generic", false, false},
	{"gfx1033", 0x039, 32, "RDNA2", "gfx10-3-generic", false, false},
	{"gfx1034", 0x03e, 32, "RDNA2", "gfx10-3-generic", false, false},
	{"gfx1035", 0x03d, 32, "RDNA2", "gfx10-3-generic", false, false},
	{"gfx1036", 0x045, 32, "RDNA2", "gfx10-3-generic", false, false},
	{"gfx1100", 0x041, 32, "RDNA3", "gfx11-generic", false, false},
	{"gfx1101", 0x046, 32, "RDNA3", "gfx11-generic", false, false},
	{"gfx1102", 0x047, 32, "RDNA3", "gfx11-generic", false, false},
	{"gfx1103", 0x044, 32, "RDNA3", "gfx11-generic", false, false},
	{"gfx1150", 0x043, 32, "RDNA3.5", "gfx11-generic", false, false},
	{"gfx1151", 0x04a, 32, "RDNA3.5", "gfx11-generic", false, false},
	{"gfx1152", 0x055, 32, "RDNA3.5", "gfx11-generic", false, false},
	{"gfx1153", 0x058, 32, "RDNA3.5", "gfx11-generic", false, false},
	{"gfx1200", 0x048, 32, "RDNA4", "gfx12-generic", false, false},
	{"gfx1201", 0x04e, 32, "RDNA4", "gfx12-generic", false, false},
	{"gfx9-generic", 0x051, 64, "GCN5", "", true, false},
	{"gfx9-4-generic", 0x05f, 64, "CDNA3", "", true, true},
	{"gfx10-1-generic", 0x052, 32, "RDNA1", "", true, false},
	{"gfx10-3-generic", 0x053, 32, "RDNA2", "", false, false},
	{"gfx11-generic", 0x054, 32, "RDNA3", "", false, false},
	{"gfx12-generic", 0x059, 32, "RDNA4", "", false, false},
}

// e_flags of code objects from version 3 on.
const (
	machMask     = 0xff
	xnackShift   = 8
	sramShift    = 10
	genericShift = 24
)

// FindProcessor finds a processor by name.
func FindProcessor(name string) (Processor, bool) {
	for _, p := range Processors {
		if p.Name == name {
			return p, true
		}
	}
	return Processor{}, false
}

// IsGeneric reports a processor that stands for a family.
func (p *Processor) IsGeneric() bool { return strings.HasSuffix(p.Name, "-generic") }

func targetOf(flags uint32, version int) (Target, bool) {
	for _, p := range Processors {
		if p.Mach != flags&machMask {
			continue
		}
		t := Target{Processor: p, XNACK: Setting(flags >> xnackShift & 3), SRAMECC: Setting(flags >> sramShift & 3)}
		if version == 3 { // one bit each: set is on
			t.XNACK, t.SRAMECC = None, None
		}
		return t, true
	}
	return Target{}, false
}

// ParseTarget reads a target id as HIP reports it: "gfx90a:sramecc+:xnack-". What it does not name is Any where the processor
// has it.
func ParseTarget(id string) (Target, error) {
	parts := strings.Split(id, ":")
	p, ok := FindProcessor(parts[0])
	if !ok {
		return Target{}, fmt.Errorf("processor %q is not known", parts[0])
	}
	t := Target{Processor: p}
	if p.XNACK {
		t.XNACK = Any
	}
	if p.SRAMECC {
		t.SRAMECC = Any
	}
	for _, f := range parts[1:] {
		to, has := &t.XNACK, p.XNACK
		name := strings.TrimRight(f, "+-")
		switch name {
		case "xnack":
		case "sramecc":
			to, has = &t.SRAMECC, p.SRAMECC
		default:
			return Target{}, fmt.Errorf("target %q: feature %q is not known", id, f)
		}
		switch {
		case !has || len(f) != len(name)+1:
			return Target{}, fmt.Errorf("target %q: feature %q", id, f)
		case f[len(f)-1] == '+':
			*to = On
		default:
			*to = Off
		}
	}
	return t, nil
}

// String is the target id: the processor, then the settings that are not Any, in the order AMD writes them.
func (t Target) String() string {
	s := t.Name
	for _, f := range []struct {
		name string
		set  Setting
	}{{"sramecc", t.SRAMECC}, {"xnack", t.XNACK}} {
		switch f.set {
		case On:
			s += ":" + f.name + "+"
		case Off:
			s += ":" + f.name + "-"
		}
	}
	return s
}

// Runs reports whether code for t runs on a device that says it is d.
func (t Target) Runs(d Target) bool {
	if t.Name != d.Name && (t.Name == "" || t.Name != d.Generic) {
		return false
	}
	fits := func(code, dev Setting) bool { return code == None || code == Any || code == dev || dev == Any }
	return fits(t.XNACK, d.XNACK) && fits(t.SRAMECC, d.SRAMECC)
}

// Features are LLVM's for the settings.
func (t Target) Features() string {
	var f []string
	for _, s := range []struct {
		name string
		set  Setting
	}{{"sramecc", t.SRAMECC}, {"xnack", t.XNACK}} {
		switch s.set {
		case On:
			f = append(f, "+"+s.name)
		case Off:
			f = append(f, "-"+s.name)
		}
	}
	return strings.Join(f, ",")
}
