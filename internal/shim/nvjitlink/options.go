package nvjitlink

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/assemble"
	"kudzu/internal/nvvmir"
	"kudzu/internal/ptx/isa"
)

// options are what a link was created with.
type options struct {
	arch      isa.Target
	known     bool // an architecture was given
	limit     int  // of registers
	ptx, lto  bool
	verbose   bool
	assembler bool // -Xptxas=-v
	object    bool // -r: functions may be missing
	virtual   bool // compute_…
	timed     bool
	pruned    bool     // kernels that are not in used are removed
	used      []string // kernels

	code nvvmir.Options // of what is compiled from LTO-IR
}

// ignored are options that tune machine code or optimisation; those that end with = have a value.
var ignored = []string{"-g", "-lineinfo", "-optimize-unused-variables", "-nvvm-latest", "-no-cache", "-device-stack-protector",
	"-Xptxas=", "-Xnvvm=", "-split-compile=",
	"-split-compile-extended=", "-jump-table-density=", "-Ofc="}

// valued are options that must have a value.
var valued = []string{"-kernels-used=", "-variables-used=", "-Xptxas="}

// read takes the options. The first fault is the answer; what it is goes to the log.
func (l *link) read(words []string) error {
	o := &l.opts
	var code []string
	for _, w := range words {
		name, val, _ := strings.Cut(w, "=")
		var err error
		switch {
		case name == "-arch" && val != "":
			err = l.readArch(w, val)
		case name == "-maxrregcount" && val != "":
			o.limit, _ = strconv.Atoi(val)
		case w == "-ptx":
			o.ptx = true
		case w == "-lto":
			o.lto = true
		case w == "-verbose":
			o.verbose = true
		case w == "-r":
			o.object = true
		case w == "-time":
			o.timed = true
		case slices.Contains(valued, w):
			err = l.refuse(badOption, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (%s)", w)
		case name == "-kernels-used" && val != "":
			o.pruned, o.used = true, append(o.used, val)
		case name == "-variables-used" && val != "":
			o.pruned = true // variables stay, but kernels have to be named from here on
		case w == "-Xptxas=-v" || w == "-Xptxas=--verbose":
			o.assembler = true
		case w == "-O0" || w == "-O3":
			code = append(code, "-opt="+w[2:])
		case name == "-ftz" || name == "-prec-div" || name == "-prec-sqrt" || name == "-fma":
			if val == "0" || val == "1" { // nothing is said of other values
				code = append(code, w)
			}
		case strings.HasPrefix(w, "-O") && !strings.Contains(w, "="):
			err = l.refuse(badOption, "unsupported value of -O: %s. Only 0 and 3 are supported.", w[2:])
		case slices.ContainsFunc(ignored, func(s string) bool { return w == s || strings.HasSuffix(s, "=") && strings.HasPrefix(w, s) }):
		default:
			err = l.refuse(badOption, "unrecognized option: %s", w)
		}
		if err != nil {
			return err
		}
	}
	c, err := nvvmir.Parse(code)
	switch {
	case err != nil:
		return internal
	case !o.known:
		return noArch
	case o.virtual && !o.ptx:
		return l.refuse(incompatible, "ERROR: virtual arch requires -ptx")
	case o.ptx && !o.lto:
		return l.refuse(incompatible, "ERROR: -ptx requires -lto")
	}
	o.code = *c
	o.code.Arch = fmt.Sprint(o.arch.SM, o.arch.Suffix)
	return nil
}

func (l *link) readArch(word, val string) error {
	arch, code, ok := assemble.Arch(val)
	_, number, _ := strings.Cut(val, "_")
	switch {
	case ok:
	case !strings.HasPrefix(val, "sm_") && !strings.HasPrefix(val, "compute_"), strings.Trim(number, "0123456789af") != "" || number == "":
		return l.refuse(badOption, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (%s)", word)
	default:
		if _, old := isa.TargetOf("sm_" + number); old {
			return l.refuse(oldArch, "ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (compute_%s)", number)
		}
		return l.refuse(unknownArch, "ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (compute_%s)", number)
	}
	l.opts.arch, l.opts.known, l.opts.virtual = arch, true, !code
	return nil
}

// refuse writes a line to the log.
func (l *link) refuse(code Result, format string, args ...any) error {
	fmt.Fprintf(&l.errs, format+"\n", args...)
	return code
}
