package interp

import (
	"fmt"
	"math"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/ptx"
)

// builtin is a function the runtime provides to device code. Arguments are the bytes of its parameters.
type builtin func(t *thread, args [][]byte) uint64

// builtins are the functions that PTX declares and nobody defines.
var builtins = map[string]builtin{
	"vprintf":      vprintf,
	"malloc":       deviceMalloc,
	"free":         deviceFree,
	"__assertfail": assertFail,
}

// builtin calls a function of the runtime.
func (t *thread) builtin(fn builtin, site *callSite) {
	args := make([][]byte, len(site.args))
	for i := range site.args {
		a := &site.args[i]
		if a.isVar {
			args[i] = t.local[t.fp+a.off:][:a.size]
		} else {
			args[i] = make([]byte, 8)
			store(args[i], a.src.get(t))
		}
	}
	v := fn(t, args)
	if len(site.outs) == 0 {
		return
	}
	if out := &site.outs[0]; out.isVar {
		storeBytes(t.local[t.fp+out.off:][:out.size], v)
	} else {
		t.r[out.slot] = v
	}
}

func argument(args [][]byte, i int) uint64 {
	if i >= len(args) {
		return 0
	}
	return loadBytes(args[i])
}

// text reads a C string at a generic address.
func (t *thread) text(addr uint64) string {
	const most = 1 << 16
	var b []byte
	for len(b) < most {
		c := t.mem(ptx.SpaceGeneric, addr+uint64(len(b)), 1, 1)[0]
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// assertFail is __assertfail(message, file, line, function, size of a character).
func assertFail(t *thread, args [][]byte) uint64 {
	text := func(i int) string {
		if a := argument(args, i); a != 0 {
			return t.text(a)
		}
		return ""
	}
	c, id := t.w.b.ctaid, t.tid
	msg := fmt.Sprintf("%s:%d: %s: block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `%s` failed.",
		text(1), uint32(argument(args, 2)), text(3), c[0], c[1], c[2], id[0], id[1], id[2], text(0))
	t.w.b.g.env.complain(msg + "\n")
	t.fault(backend.FaultAssert, msg)
	return 0
}

// deviceMalloc gives memory of the device, 0 if there is none.
func deviceMalloc(t *thread, args [][]byte) uint64 {
	n := argument(args, 0)
	if n == 0 {
		return 0
	}
	a, err := t.w.b.g.env.heap.Alloc(n, 16)
	if err != nil {
		return 0
	}
	return uint64(a)
}

// deviceFree gives back what malloc gave; anything else is a fault.
func deviceFree(t *thread, args [][]byte) uint64 {
	a := argument(args, 0)
	if a == 0 {
		return 0
	}
	if err := t.w.b.g.env.heap.Free(backend.Addr(a)); err != nil {
		t.faultAddr(backend.FaultAddress, a, "free of something malloc did not give")
	}
	t.w.b.forget()
	return 0
}

// vprintf is vprintf(format, arguments); it returns the number of arguments.
func vprintf(t *thread, args [][]byte) uint64 {
	p := &printer{t: t, next: argument(args, 1)}
	p.print(t.text(argument(args, 0)))
	t.w.b.g.env.print(p.out.String())
	return uint64(p.n)
}

// printer formats as C's printf does, taking arguments from memory, each at its natural alignment.
type printer struct {
	t    *thread
	out  strings.Builder
	next uint64
	n    uint32
}

func (p *printer) take(size uint64) uint64 {
	p.next = (p.next + size - 1) &^ (size - 1)
	v := load(p.t.mem(ptx.SpaceGeneric, p.next, size, size))
	p.next += size
	p.n++
	return v
}

// spec is one conversion: %[flags][width][.precision][length]verb.
type spec struct {
	flags       string
	width, prec int // -1: none
	long        bool
	verb        byte
}

func (p *printer) print(format string) {
	for i := 0; i < len(format); {
		if format[i] != '%' {
			p.out.WriteByte(format[i])
			i++
			continue
		}
		s, n, ok := p.spec(format[i:])
		if !ok { // an incomplete conversion is printed as it is
			p.out.WriteString(format[i:])
			return
		}
		i += n
		p.convert(s)
	}
}

// spec reads a conversion and how long it is.
func (p *printer) spec(f string) (s spec, n int, ok bool) {
	s.width, s.prec = -1, -1
	i := 1
	for i < len(f) && strings.IndexByte("-+ #0", f[i]) >= 0 {
		s.flags += f[i : i+1]
		i++
	}
	i = p.number(f, i, &s.width)
	if s.width < -1 { // a negative * width is a flag and a width
		s.flags, s.width = s.flags+"-", -s.width
	}
	if i < len(f) && f[i] == '.' {
		s.prec = 0
		i = p.number(f, i+1, &s.prec)
	}
	for i < len(f) && strings.IndexByte("hlLqjzt", f[i]) >= 0 {
		s.long = s.long || f[i] != 'h'
		i++
	}
	if i >= len(f) {
		return s, 0, false
	}
	s.verb = f[i]
	return s, i + 1, true
}

// number reads digits or *.
func (p *printer) number(f string, i int, v *int) int {
	if i < len(f) && f[i] == '*' {
		*v = int(int32(p.take(4)))
		return i + 1
	}
	for first := true; i < len(f) && f[i] >= '0' && f[i] <= '9'; i++ {
		if first {
			*v, first = 0, false
		}
		*v = min(*v*10+int(f[i]-'0'), 1<<12)
	}
	return i
}

// verbOf builds the Go format of the same meaning.
func (s *spec) verbOf(verb string) string {
	f := "%" + s.flags
	if s.width >= 0 {
		f += fmt.Sprint(min(s.width, 1<<12))
	}
	if s.prec >= 0 {
		f += fmt.Sprintf(".%d", min(s.prec, 1<<12))
	}
	return f + verb
}

func (p *printer) convert(s spec) {
	switch s.verb {
	case '%':
		p.out.WriteByte('%')
	case 'd', 'i':
		v := int64(0)
		if s.long {
			v = int64(p.take(8))
		} else {
			v = int64(int32(p.take(4)))
		}
		p.integer(s, "d", v)
	case 'u', 'o', 'x', 'X':
		verb := string(s.verb)
		if s.verb == 'u' {
			verb = "d"
		}
		if s.long {
			p.integer(s, verb, p.take(8))
		} else {
			p.integer(s, verb, p.take(4))
		}
	case 'c':
		s.prec = -1
		fmt.Fprintf(&p.out, s.verbOf("s"), string([]byte{byte(p.take(4))}))
	case 's':
		a := p.take(8)
		v := "(null)"
		if a != 0 {
			v = p.t.text(a)
		}
		fmt.Fprintf(&p.out, s.verbOf("s"), v)
	case 'p':
		s.flags, s.prec = strings.ReplaceAll(s.flags, "#", ""), -1
		fmt.Fprintf(&p.out, s.verbOf("s"), fmt.Sprintf("0x%x", p.take(8)))
	case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
		p.float(s, math.Float64frombits(p.take(8)))
	default: // unknown conversions are printed as they are, without an argument
		p.out.WriteString(s.verbOf(string(s.verb)))
	}
}

// integer: a precision turns the flag 0 off, and zero with precision zero prints nothing, as in C.
func (p *printer) integer(s spec, verb string, v any) {
	if s.prec >= 0 {
		s.flags = strings.ReplaceAll(s.flags, "0", "")
	}
	fmt.Fprintf(&p.out, s.verbOf(verb), v)
}

func (p *printer) float(s spec, v float64) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		s.prec, s.flags = -1, strings.ReplaceAll(s.flags, "0", "")
		word := "inf"
		if math.IsNaN(v) {
			word = "nan"
		}
		switch {
		case math.Signbit(v):
			word = "-" + word
		case strings.Contains(s.flags, "+"):
			word = "+" + word
		case strings.Contains(s.flags, " "):
			word = " " + word
		}
		if s.verb < 'a' {
			word = strings.ToUpper(word)
		}
		s.flags = strings.Map(func(r rune) rune {
			if r == '-' {
				return r
			}
			return -1
		}, s.flags)
		fmt.Fprintf(&p.out, s.verbOf("s"), word)
		return
	}
	verb := s.verb
	switch verb {
	case 'F':
		verb = 'f'
	case 'a':
		verb = 'x'
	case 'A':
		verb = 'X'
	}
	if s.prec < 0 && verb != 'x' && verb != 'X' {
		s.prec = 6
	}
	if (verb == 'g' || verb == 'G') && s.prec == 0 {
		s.prec = 1
	}
	fmt.Fprintf(&p.out, s.verbOf(string(verb)), v)
}
