package devrt

import (
	"fmt"
	"math"
	"strings"
)

// Source is where the arguments of a device's printf come from, one after the other.
type Source interface {
	Word(size int) uint64           // of 4 or 8 bytes
	String() (text string, ok bool) // of %s; not ok is a null pointer
}

// Print formats as C's printf does. It returns the text, and how many arguments it took.
func Print(format string, from Source) (text string, n int) {
	p := &printer{from: from}
	p.print(format)
	return p.out.String(), p.n
}

type printer struct {
	from Source
	out  strings.Builder
	n    int
}

func (p *printer) take(size int) uint64 {
	p.n++
	return p.from.Word(size)
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
		p.n++
		v, ok := p.from.String()
		if !ok {
			v = "(null)"
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
