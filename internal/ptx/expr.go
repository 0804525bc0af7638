package ptx

import (
	"math"
	"strconv"
	"strings"
)

// value is a constant: an integer of 64 bits, signed or not, or a float.
type value struct {
	kind ImmKind
	bits uint64
}

func (v value) isFloat() bool { return v.kind == ImmF64 || v.kind == ImmF32 }

func (v value) float() float64 {
	switch v.kind {
	case ImmF64:
		return math.Float64frombits(v.bits)
	case ImmF32:
		return float64(math.Float32frombits(uint32(v.bits)))
	case ImmUint:
		return float64(v.bits)
	}
	return float64(int64(v.bits))
}

// readNumber reads the text of a number token.
func readNumber(lit string) (value, bool) {
	if len(lit) > 2 && lit[0] == '0' {
		switch lit[1] {
		case 'f', 'F':
			n, err := strconv.ParseUint(lit[2:], 16, 32)
			return value{ImmF32, n}, err == nil && len(lit) == 10
		case 'd', 'D':
			n, err := strconv.ParseUint(lit[2:], 16, 64)
			return value{ImmF64, n}, err == nil && len(lit) == 18
		}
	}
	hex := strings.HasPrefix(lit, "0x") || strings.HasPrefix(lit, "0X")
	if !hex && strings.ContainsAny(lit, ".eE") {
		f, err := strconv.ParseFloat(lit, 64)
		if err != nil && !math.IsInf(f, 0) {
			return value{}, false
		}
		return value{ImmF64, math.Float64bits(f)}, true
	}
	return readInt(lit)
}

// readInt reads an integer. As the vendor's assembler does, it keeps the low 64 bits of one that is too large.
func readInt(lit string) (value, bool) {
	kind := ImmInt
	if strings.HasSuffix(lit, "U") {
		kind, lit = ImmUint, lit[:len(lit)-1]
	}
	base, digits := uint64(10), lit
	if len(lit) > 1 && lit[0] == '0' {
		switch lit[1] | 0x20 {
		case 'x':
			base, digits = 16, lit[2:]
		case 'b':
			base, digits = 2, lit[2:]
		default:
			base, digits = 8, lit[1:]
		}
	}
	if digits == "" {
		return value{}, false
	}
	var n uint64
	for i := range len(digits) {
		c := digits[i]
		var d uint64
		switch {
		case c <= '9':
			d = uint64(c - '0')
		default:
			d = uint64(c|0x20-'a') + 10
		}
		if d >= base {
			return value{}, false
		}
		n = n*base + d
	}
	if n > math.MaxInt64 {
		kind = ImmUint
	}
	return value{kind, n}, true
}

// maxDepth bounds nesting of parentheses, braces and scopes.
const maxDepth = 250

// precedence is binary operators by how tightly they bind; 0 is none.
func precedence(t token) int {
	switch t {
	case '*', '/', '%':
		return 10
	case '+', '-':
		return 9
	case tShl, tShr:
		return 8
	case '<', '>', tLe, tGe:
		return 7
	case tEq, tNe:
		return 6
	case '&':
		return 5
	case '^':
		return 4
	case '|':
		return 3
	case tAndAnd:
		return 2
	case tOrOr:
		return 1
	}
	return 0
}

// constant parses a constant expression.
func (p *parser) constant() value { return p.ternary(0) }

func (p *parser) ternary(depth int) value {
	c := p.binary(1, depth)
	if p.tok != '?' {
		return c
	}
	if depth > maxDepth {
		p.fail("Expression nested too deeply")
	}
	p.next()
	a := p.ternary(depth + 1)
	p.expect(':')
	b := p.ternary(depth + 1)
	if c.isFloat() && c.float() != 0 || !c.isFloat() && c.bits != 0 {
		return a
	}
	return b
}

func (p *parser) binary(min, depth int) value {
	a := p.unary(depth)
	for {
		op := p.tok
		prec := precedence(op)
		if prec < min || prec == 0 {
			return a
		}
		pos := p.start
		p.next()
		b := p.binary(prec+1, depth+1)
		var ok bool
		if a, ok = apply(op, a, b); !ok {
			p.failAt(pos, "Invalid constant expression")
		}
	}
}

func (p *parser) unary(depth int) value {
	if depth > maxDepth {
		p.fail("Expression nested too deeply")
	}
	switch p.tok {
	case '-':
		p.next()
		v := p.unary(depth + 1)
		switch v.kind {
		case ImmF64:
			v.bits ^= 1 << 63
		case ImmF32:
			v.bits ^= 1 << 31
		default:
			v.bits = -v.bits
			v.kind = ImmInt
		}
		return v
	case '+':
		p.next()
		return p.unary(depth + 1)
	case '~':
		p.next()
		v := p.intOperand(depth)
		v.bits = ^v.bits
		return v
	case '!':
		p.next()
		v := p.intOperand(depth)
		return boolValue(v.bits == 0)
	case '(':
		p.next()
		if p.tok == tDot {
			kind := ImmInt
			switch p.lit() {
			case ".u64":
				kind = ImmUint
			case ".s64":
			default:
				p.fail("Invalid cast in constant expression")
			}
			p.next()
			p.expect(')')
			v := p.intOperand(depth)
			v.kind = kind
			return v
		}
		v := p.ternary(depth + 1)
		p.expect(')')
		return v
	case tNumber:
		v, ok := readNumber(p.lit())
		if !ok {
			p.failNear()
		}
		p.next()
		return v
	case tDot: // .5
		if isDec(p.text[p.start+1]) {
			p.end = numberEnd(p.text, p.start+1)
			v, ok := readNumber("0" + p.lit())
			if !ok || !v.isFloat() {
				p.failNear()
			}
			p.next()
			return v
		}
	case tIdent:
		if p.lit() == "WARP_SZ" {
			p.next()
			return value{ImmInt, 32}
		}
	}
	p.failNear()
	return value{}
}

func (p *parser) intOperand(depth int) value {
	pos := p.start
	v := p.unary(depth + 1)
	if v.isFloat() {
		p.failAt(pos, "Invalid constant expression")
	}
	return v
}

func boolValue(b bool) value {
	if b {
		return value{ImmInt, 1}
	}
	return value{ImmInt, 0}
}

// apply computes a op b with the manual's rules: unsigned if either is, comparisons give signed, shifts keep the left type.
func apply(op token, a, b value) (value, bool) {
	if a.isFloat() || b.isFloat() {
		return applyFloat(op, a.float(), b.float())
	}
	unsigned := a.kind == ImmUint || b.kind == ImmUint
	kind := ImmInt
	if unsigned {
		kind = ImmUint
	}
	x, y := a.bits, b.bits
	less := func(x, y uint64) bool {
		if unsigned {
			return x < y
		}
		return int64(x) < int64(y)
	}
	switch op {
	case '+':
		return value{kind, x + y}, true
	case '-':
		return value{kind, x - y}, true
	case '*':
		return value{kind, x * y}, true
	case '/', '%':
		return divide(op, kind, x, y)
	case tShl:
		return value{a.kind, x << min(y, 64)}, true
	case tShr:
		if a.kind == ImmUint {
			return value{a.kind, x >> min(y, 64)}, true
		}
		return value{a.kind, uint64(int64(x) >> min(y, 63))}, true
	case '&':
		return value{kind, x & y}, true
	case '|':
		return value{kind, x | y}, true
	case '^':
		return value{kind, x ^ y}, true
	case '<':
		return boolValue(less(x, y)), true
	case '>':
		return boolValue(less(y, x)), true
	case tLe:
		return boolValue(!less(y, x)), true
	case tGe:
		return boolValue(!less(x, y)), true
	case tEq:
		return boolValue(x == y), true
	case tNe:
		return boolValue(x != y), true
	case tAndAnd:
		return boolValue(x != 0 && y != 0), true
	case tOrOr:
		return boolValue(x != 0 || y != 0), true
	}
	return value{}, false
}

func divide(op token, kind ImmKind, x, y uint64) (value, bool) {
	switch {
	case y == 0:
		return value{}, false
	case kind == ImmUint && op == '/':
		return value{kind, x / y}, true
	case kind == ImmUint:
		return value{kind, x % y}, true
	case y == math.MaxUint64: // the most negative number by -1 must not trap
		if op == '%' {
			return value{kind, 0}, true
		}
		return value{kind, -x}, true
	case op == '/':
		return value{kind, uint64(int64(x) / int64(y))}, true
	}
	return value{kind, uint64(int64(x) % int64(y))}, true
}

func applyFloat(op token, x, y float64) (value, bool) {
	f := func(z float64) (value, bool) { return value{ImmF64, math.Float64bits(z)}, true }
	switch op {
	case '+':
		return f(x + y)
	case '-':
		return f(x - y)
	case '*':
		return f(x * y)
	case '/':
		if y == 0 {
			return value{}, false
		}
		return f(x / y)
	case '<':
		return boolValue(x < y), true
	case '>':
		return boolValue(x > y), true
	case tLe:
		return boolValue(x <= y), true
	case tGe:
		return boolValue(x >= y), true
	case tEq:
		return boolValue(x == y), true
	case tNe:
		return boolValue(x != y), true
	}
	return value{}, false
}
