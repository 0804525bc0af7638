package isa

import (
	"fmt"
	"strconv"
	"strings"
)

// compiled is a form's Syntax and Types, read once.
type compiled struct {
	prefix   string   // "cp.async.bulk"
	words    []string // of the prefix, after the first, each with its dot
	slots    []Slot
	operands []Operand
	required int // slots that must be filled
	dots     []int8
	vec      int8
	// mul.lo and its like are mnemonics to the vendor's assembler: the mode stands first.
	fixedMode bool
	space     int8
}

// compile reads the row. A mistake in a row is a bug of the table and panics; the table's test reads every row.
func (f *Form) compile() {
	c := &compiled{}
	head, tail, _ := strings.Cut(f.Syntax, " ")
	c.readHead(f, head)
	c.nameTypes()
	for i, s := range c.slots {
		if !s.Optional {
			c.required++
		}
		if s.Name == "atype" || s.Name == "btype" {
			c.dots = append(c.dots, int8(i))
		}
	}
	f.compiled = c
	switch f.Op {
	case Mul, Mad, Mul24, Mad24, MadCC, Madc:
		c.fixedMode = !c.slots[0].Optional && c.slots[0].Name != "rnd"
	}
	c.vec, c.space = int8(f.Slot("vec")), int8(f.Slot("space"))
	c.readOperands(f, strings.TrimSpace(tail))
}

func (c *compiled) readHead(f *Form, head string) {
	opWords := strings.Split(f.Op.String(), ".")
	i := strings.IndexAny(head, ".{")
	if i < 0 {
		i = len(head)
	}
	c.prefix = head[:i]
	if c.prefix != opWords[0] {
		panic(fmt.Sprintf("BUG: row %q of op %v", f.Syntax, f.Op))
	}
	inPrefix := 1
	for i < len(head) {
		optional := head[i] == '{'
		if optional {
			i++
		}
		if head[i] != '.' {
			panic(fmt.Sprintf("BUG: row %q at %q", f.Syntax, head[i:]))
		}
		j := i + 1
		for j < len(head) && head[j] != '.' && head[j] != '{' && head[j] != '}' {
			j++
		}
		word := head[i:j]
		i = j
		if optional {
			if i >= len(head) || head[i] != '}' {
				panic(fmt.Sprintf("BUG: row %q: brace", f.Syntax))
			}
			i++
		}
		words, isSet := f.Sets.words(word[1:])
		if !isSet && !optional && inPrefix > 0 && inPrefix < len(opWords) && opWords[inPrefix] == word[1:] {
			c.prefix += word
			c.words = append(c.words, word)
			inPrefix++
			continue
		}
		inPrefix = -1
		if !isSet {
			words = []string{word}
		}
		s := Slot{Name: word[1:], Optional: optional, Literal: !isSet}
		for _, w := range words {
			m := ModOf(w)
			if m == 0 {
				panic(fmt.Sprintf("BUG: row %q: no constant for %s", f.Syntax, w))
			}
			s.Words = append(s.Words, m)
		}
		c.slots = append(c.slots, s)
	}
}

var typeSlotNames = [...]string{"dtype", "atype", "btype", "ctype", "stype"}

// nameTypes gives literal types their slot names: "type" for the only one, else by place.
func (c *compiled) nameTypes() {
	var at []int
	for i, s := range c.slots {
		if s.Words[0].Type() != TypeNone {
			at = append(at, i)
		}
	}
	if len(at) == 1 && c.slots[at[0]].Literal {
		c.slots[at[0]].Name = "type"
		return
	}
	for n, i := range at {
		if c.slots[i].Literal && n < len(typeSlotNames) {
			c.slots[i].Name = typeSlotNames[n]
		}
	}
}

// readOperands reads "d[|p], [a]{.unified}{, policy}".
func (c *compiled) readOperands(f *Form, text string) {
	specs := map[string]string{}
	for _, s := range strings.Fields(f.Types) {
		name, spec, ok := strings.Cut(s, "=")
		if !ok {
			panic(fmt.Sprintf("BUG: row %q: Types %q", f.Syntax, s))
		}
		specs[name] = spec
	}
	p := &operandReader{c: c, f: f, text: text, specs: specs}
	p.list(false)
	for name := range specs {
		if !p.used[name] {
			panic(fmt.Sprintf("BUG: row %q: Types names %q, which is no operand", f.Syntax, name))
		}
	}
	hasAddrFirst := len(c.operands) > 0 && c.operands[0].Kinds&(KAddr|KTex) != 0
	if len(c.operands) > 0 && !hasAddrFirst && (ops[f.Op].result || c.operands[0].Name == "d") {
		c.operands[0].Dest = true
		c.operands[0].Kinds &^= KImm
		if ops[f.Op].sink {
			c.operands[0].Kinds |= KSink
		}
	}
}

type operandReader struct {
	c     *compiled
	f     *Form
	text  string
	specs map[string]string
	used  map[string]bool
}

func (p *operandReader) fail(what string) {
	panic(fmt.Sprintf("BUG: row %q: %s at %q", p.f.Syntax, what, p.text))
}

func (p *operandReader) eat(s string) bool {
	p.text = strings.TrimLeft(p.text, " ")
	if strings.HasPrefix(p.text, s) {
		p.text = p.text[len(s):]
		return true
	}
	return false
}

func (p *operandReader) list(optional bool) {
	for p.text != "" {
		switch {
		case p.eat("{,"):
			p.one(true)
			if !p.eat("}") {
				p.fail("brace")
			}
		case p.eat(","):
		default:
			p.one(optional)
		}
	}
}

func (p *operandReader) name() string {
	p.text = strings.TrimLeft(p.text, " ")
	i := 0
	for i < len(p.text) && (p.text[i] == '_' || p.text[i] == '-' || p.text[i] >= '0' && p.text[i] <= '9' || p.text[i]|0x20 >= 'a' && p.text[i]|0x20 <= 'z') {
		i++
	}
	if i == 0 {
		p.fail("name")
	}
	n := p.text[:i]
	p.text = p.text[i:]
	return n
}

func (p *operandReader) one(optional bool) {
	o := Operand{Optional: optional, Slot: -1}
	if p.eat("{!}") {
		o.Not = true
	}
	if p.eat("{-}") {
		o.Minus = true
	}
	switch {
	case p.eat("["):
		o.Name = p.name()
		o.Kinds = KAddr
		for p.eat(",") || p.eat("{,") { // [a, b]: texture, tensor and similar addresses
			o.Kinds = KTex
			p.name()
			p.eat("}")
		}
		if !p.eat("]") {
			p.fail("bracket")
		}
		if p.eat("{.unified}") {
			o.Unified = true
		}
		p.mark(o.Name)
	case p.eat("{"):
		o.Name = p.name()
		o.Kinds = KVec
		o.Vec = 1
		for p.eat(",") {
			p.name()
			o.Vec++
		}
		if !p.eat("}") {
			p.fail("brace")
		}
		p.typeOf(&o)
	default:
		o.Name = p.name()
		o.Kinds = KReg | KImm
		switch {
		case p.eat("[|"):
			o.PairOpt = true
			p.name()
			p.eat("]")
			o.Kinds |= KPair
		case p.eat("|"):
			o.PairReq = true
			p.name()
			o.Kinds = KPair
		case p.eat("{."):
			o.Sel = p.name()
			p.eat("}")
		case p.eat("."):
			o.Sel = p.name()
		}
		p.typeOf(&o)
	}
	if optional {
		o.With = operandWith(o.Name)
	}
	p.c.operands = append(p.c.operands, o)
}

// operandWith is the word of the spelling that an optional operand comes with, if there is one.
func operandWith(name string) Mod {
	switch name {
	case "policy":
		return ModL2CacheHint
	case "ctamask":
		return ModMulticastCluster
	case "bytemask":
		return ModCpMask
	}
	return NoMod
}

func (p *operandReader) mark(name string) string {
	if p.used == nil {
		p.used = map[string]bool{}
	}
	p.used[name] = true
	return p.specs[name]
}

// operandTypes names the types that an operand's name implies where Types is silent.
func operandTypes(name string) []string {
	switch name {
	case "a", "b", "c", "d":
		return []string{name + "type", "type"}
	case "p", "q":
		return []string{"pred"}
	case "policy":
		return []string{"$b64"}
	case "membermask":
		return []string{"u32"}
	}
	return nil
}

func (p *operandReader) typeOf(o *Operand) {
	spec := p.mark(o.Name)
	if spec == "" {
		for _, s := range operandTypes(o.Name) {
			if p.f.slotOrType(s) {
				spec = s
				break
			}
		}
	}
	if spec == "" {
		p.fail("type of operand " + o.Name)
	}
	if err := o.readSpec(p.f, spec); err != nil {
		p.fail(err.Error())
	}
}

func (f *Form) slotOrType(s string) bool {
	return f.Slot(s) >= 0 || TypeOf(strings.TrimLeft(s, "$#")) != TypeNone
}

func (o *Operand) readSpec(f *Form, spec string) error {
	switch {
	case strings.HasPrefix(spec, "#"):
		o.Kinds &^= KReg
		spec = spec[1:]
	case strings.HasPrefix(spec, "$"):
		o.Kinds &^= KImm
		spec = spec[1:]
	}
	if spec, rng, ok := strings.Cut(spec, ":"); ok {
		lo, hi, _ := strings.Cut(rng, "..")
		var err1, err2 error
		o.Lo, err1 = strconv.ParseInt(lo, 0, 64)
		o.Hi, err2 = strconv.ParseInt(hi, 0, 64)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("range %s", rng)
		}
		o.Ranged = true
		return o.readSpec(f, spec)
	}
	if n := strings.IndexFunc(spec, func(r rune) bool { return r < '0' || r > '9' }); n > 0 {
		size, err := strconv.Atoi(spec[:n])
		if err != nil {
			return err
		}
		o.Vec, o.Kinds, spec = int8(size), o.Kinds&KPair|KVec, spec[n:]
	}
	for {
		switch {
		case strings.HasSuffix(spec, "+"):
			o.Wider = true
		case strings.HasSuffix(spec, "!"):
			o.Strict = true
		case strings.HasSuffix(spec, "~"):
			o.Any = true
		case strings.HasSuffix(spec, "&"):
			o.Kinds |= KSym
		case strings.HasSuffix(spec, "*"):
			o.Vec = -1
			o.Kinds |= KVec
		case strings.HasSuffix(spec, "v"):
			o.VecSlot = true
			o.Kinds |= KVec
		default:
			return o.readRef(f, spec)
		}
		spec = spec[:len(spec)-1]
	}
}

func (o *Operand) readRef(f *Form, name string) error {
	if i := f.Slot(name); i >= 0 {
		o.Ref, o.Slot = TypeOfSlot, int8(i)
		return nil
	}
	if slot, ok := strings.CutPrefix(name, "frag("); ok {
		o.Ref, o.Slot = TypeFrag, int8(f.Slot(strings.TrimSuffix(slot, ")")))
		if o.Slot < 0 {
			return fmt.Errorf("no slot for %q", name)
		}
		return nil
	}
	switch name {
	case "sink":
		o.Kinds = KSink
	case "twice":
		o.Ref, o.Slot = TypeWide, int8(f.Slot("type"))
	case "dot":
		o.Ref = TypeDot
	case "anyaddr":
		o.Ref, o.Fixed, o.Wider = TypeFixed, U32, true
	case "label":
		o.Kinds = KLabel
	case "table":
		o.Kinds = KTable
	case "call":
		o.Kinds = KCall
	default:
		t := TypeOf(name)
		if t == TypeNone {
			return fmt.Errorf("unknown type %q", name)
		}
		o.Ref, o.Fixed = TypeFixed, t
	}
	return nil
}
