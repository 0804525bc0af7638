package baseline

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// The text of a module becomes functions of instructions whose operands are numbers. The text is our own emitter's: what it
// does not write is not read, and said to be unsupported.

// operand is a value of the function (val ≥ 0), or a constant.
type operand struct {
	val int32
	con int32
	t   typ
}

func (o operand) isConst() bool { return o.val < 0 }

// inst is one instruction.
type inst struct {
	op     string
	sub    string // condition, operation of an atomicrmw, name of the function called
	t      typ    // of the result
	mem    typ    // of what memory holds: alloca, getelementptr
	args   []operand
	res    int32 // -1: none
	labels []int32
	list   []int // shufflevector's mask, indices of extractvalue, numbers of a switch
	debug  int32
}

// block is a basic block.
type block struct {
	name  string
	insts []*inst
}

// function is a function of the module.
type function struct {
	name   string
	ret    typ
	params []int32
	blocks []block
	order  []int32 // of the blocks in the text
	types  []typ   // of the values
}

// constant is the bytes of a constant as a slot would hold them.
type constant struct {
	t    typ
	data []byte
}

// reader reads a module.
type reader struct {
	text       string
	at         int
	aggregates [][]typ
	consts     []constant
	known      map[string]int32 // constants by type and text
	poison     map[int32]bool   // constants that nobody may look at
	lines      map[int32]int32  // debug locations
	funcs      []*function

	f       *function
	values  map[string]int32
	labels  map[string]int32
	current int32
}

func fail(format string, args ...any) { panic(unsupportedf(format, args...)) }

// read takes a module apart.
func read(text string) *reader {
	r := &reader{known: map[string]int32{}, poison: map[int32]bool{}, lines: map[int32]int32{}}
	for len(text) > 0 {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		switch {
		case line == "" || line[0] == ';':
		case strings.HasPrefix(line, "define "):
			r.header(line)
		case line == "}":
			r.f = nil
		case line[0] == '!':
			r.location(line)
		case r.f != nil:
			r.line(line)
		}
	}
	return r
}

// location notes the line of a debug location.
func (r *reader) location(line string) {
	id, rest, ok := strings.Cut(line[1:], " = !DILocation(line: ")
	if !ok {
		return
	}
	n, _, _ := strings.Cut(rest, ",")
	a, _ := strconv.Atoi(id)
	b, _ := strconv.Atoi(n)
	r.lines[int32(a)] = int32(b)
}

// header starts a function.
func (r *reader) header(line string) {
	r.f = &function{}
	r.values, r.labels = map[string]int32{}, map[string]int32{}
	r.text, r.at = line, len("define ")
	for {
		w := r.peekWord()
		if w != "internal" && w != "x86_regcallcc" && w != "private" {
			break
		}
		r.word()
	}
	r.f.ret = r.typ()
	r.expect('@')
	r.f.name = r.name()
	r.expect('(')
	for !r.take(')') {
		t := r.typ()
		for r.peek() != '%' {
			if r.word() == "" {
				fail("parameter of %s", r.f.name)
			}
		}
		r.at++
		r.f.params = append(r.f.params, r.define(r.name(), t))
		r.take(',')
	}
	r.funcs = append(r.funcs, r.f)
	r.begin("entry")
}

// begin starts a block. A function whose first block has no name has one called entry.
func (r *reader) begin(name string) {
	if name == "entry" && len(r.f.blocks) == 1 && len(r.f.blocks[0].insts) == 0 {
		return
	}
	id := r.label(name)
	for int(id) >= len(r.f.blocks) {
		r.f.blocks = append(r.f.blocks, block{})
	}
	r.f.blocks[id].name = name
	r.current = id
	r.f.order = append(r.f.order, id)
}

func (r *reader) label(name string) int32 {
	id, ok := r.labels[name]
	if !ok {
		id = int32(len(r.labels))
		r.labels[name] = id
	}
	return id
}

// value is the number of a name, which may be defined later.
func (r *reader) value(name string) int32 {
	id, ok := r.values[name]
	if !ok {
		id = int32(len(r.f.types))
		r.values[name] = id
		r.f.types = append(r.f.types, typ{})
	}
	return id
}

func (r *reader) define(name string, t typ) int32 {
	id := r.value(name)
	r.f.types[id] = t
	return id
}

// Characters and words.

func (r *reader) space() {
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
}

func (r *reader) peek() byte {
	r.space()
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *reader) take(c byte) bool {
	if r.peek() == c {
		r.at++
		return true
	}
	return false
}

func (r *reader) expect(c byte) {
	if !r.take(c) {
		fail("%q instead of %q in %q", r.peek(), c, r.text)
	}
}

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' || c == '$'
}

// word takes a word.
func (r *reader) word() string {
	r.space()
	from := r.at
	for r.at < len(r.text) && inWord(r.text[r.at]) {
		r.at++
	}
	return r.text[from:r.at]
}

func (r *reader) peekWord() string {
	at := r.at
	w := r.word()
	r.at = at
	return w
}

// name takes a name, which may be in quotes.
func (r *reader) name() string {
	if r.at < len(r.text) && r.text[r.at] == '"' {
		end := strings.IndexByte(r.text[r.at+1:], '"')
		if end < 0 {
			fail("name without an end")
		}
		n := r.text[r.at+1 : r.at+1+end]
		r.at += end + 2
		return n
	}
	return r.word()
}

// typ takes a type.
func (r *reader) typ() typ {
	switch r.peek() {
	case '<':
		r.at++
		n := r.number()
		r.word() // x
		t := r.typ()
		r.expect('>')
		t.lanes, t.vector = uint16(n), true
		return t
	case '{':
		r.at++
		var fields []typ
		for !r.take('}') {
			fields = append(fields, r.typ())
			r.take(',')
		}
		r.aggregates = append(r.aggregates, fields)
		return typ{kind: aggregate, bits: uint16(len(r.aggregates) - 1), lanes: 1}
	case '[':
		r.at++
		n := r.number()
		r.word()
		t := r.typ()
		r.expect(']')
		if t.kind == aggregate || n*t.size() > 1<<20 {
			fail("array type")
		}
		return typ{kind: integer, bits: 8, lanes: uint16(n * t.size()), vector: true} // memory only
	}
	w := r.word()
	switch w {
	case "float":
		return typ{kind: float, bits: 32, lanes: 1}
	case "double":
		return typ{kind: float, bits: 64, lanes: 1}
	case "half":
		return typ{kind: float, bits: 16, lanes: 1}
	case "ptr":
		return typ{kind: pointer, bits: 64, lanes: 1}
	case "void":
		return typ{}
	}
	if len(w) > 1 && w[0] == 'i' {
		if n, err := strconv.Atoi(w[1:]); err == nil && n > 0 && n <= 1024 {
			return typ{kind: integer, bits: uint16(n), lanes: 1}
		}
	}
	fail("type %q in %q", w, r.text)
	return typ{}
}

func (r *reader) number() int {
	n, err := strconv.Atoi(r.word())
	if err != nil {
		fail("number in %q", r.text)
	}
	return n
}

// size is the bytes of a type; fields of an aggregate lie one behind the other, each at a multiple of 64 bytes, which is our
// own affair: none is in memory.
func (r *reader) size(t typ) int {
	if t.kind != aggregate {
		return t.size()
	}
	return r.field(t, len(r.aggregates[t.bits]))
}

// field is the offset of a field.
func (r *reader) field(t typ, n int) int {
	at := 0
	for _, f := range r.aggregates[t.bits][:n] {
		at += (r.size(f) + 63) &^ 63
	}
	return at
}

// operand takes a value of type t.
func (r *reader) operand(t typ) operand {
	if r.peek() == '%' {
		r.at++
		return operand{val: r.value(r.name()), t: t}
	}
	return operand{val: -1, con: r.constant(t), t: t}
}

// typed takes a type and a value of it.
func (r *reader) typed() operand { return r.operand(r.typ()) }

// constant takes a constant and gives its number.
func (r *reader) constant(t typ) int32 {
	from := r.at
	data := make([]byte, r.size(t))
	r.bytes(t, data)
	key := string([]byte{byte(t.kind), byte(t.bits), byte(t.bits >> 8), byte(t.lanes), byte(t.lanes >> 8)}) + r.text[from:r.at]
	if id, ok := r.known[key]; ok {
		return id
	}
	r.consts = append(r.consts, constant{t, data})
	id := int32(len(r.consts) - 1)
	r.known[key] = id
	if w := strings.TrimSpace(r.text[from:r.at]); w == "poison" || w == "undef" {
		r.poison[id] = true
	}
	return id
}

// bytes reads a constant into data.
func (r *reader) bytes(t typ, data []byte) {
	if r.peek() == '<' {
		r.at++
		for i := 0; !r.take('>'); i++ {
			et := r.typ()
			r.element(t, data, i, r.scalar(et))
			r.take(',')
		}
		return
	}
	w := r.peekWord()
	switch w {
	case "zeroinitializer", "poison", "undef", "null":
		r.word()
		return
	case "splat":
		r.word()
		r.expect('(')
		et := r.typ()
		v := r.scalar(et)
		for i := range int(t.lanes) {
			r.element(t, data, i, v)
		}
		r.expect(')')
		return
	}
	if t.vector || t.kind == aggregate {
		fail("constant %q", w)
	}
	r.element(t, data, 0, r.scalar(t))
	if t.kind == integer && t.bits > 64 { // the sign
		for i := 8; i < len(data); i++ {
			data[i] = byte(int8(data[7]) >> 7)
		}
	}
}

// element sets element i of a constant.
func (r *reader) element(t typ, data []byte, i int, v uint64) {
	if t.isMask() {
		data[i/8] |= byte(v&1) << (i % 8)
		return
	}
	if t.bits < 64 {
		v &= 1<<t.bits - 1
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	n := min(t.elem(), 8)
	copy(data[i*t.elem():], b[:n])
}

// scalar takes a number as bits.
func (r *reader) scalar(t typ) uint64 {
	w := r.word()
	switch w {
	case "true":
		return 1
	case "false", "null", "poison", "undef", "zeroinitializer":
		return 0
	}
	if t.kind == float {
		return r.float(t, w)
	}
	if v, err := strconv.ParseInt(w, 10, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(w, 10, 64)
	if err != nil {
		fail("constant %q in %q", w, r.text)
	}
	return v
}

func (r *reader) float(t typ, w string) uint64 {
	if h, ok := strings.CutPrefix(w, "0xH"); ok {
		v, err := strconv.ParseUint(h, 16, 16)
		if err != nil {
			fail("constant %q", w)
		}
		return v
	}
	var v uint64
	if h, ok := strings.CutPrefix(w, "0x"); ok {
		n, err := strconv.ParseUint(h, 16, 64)
		if err != nil {
			fail("constant %q", w)
		}
		v = n
	} else {
		if r.take('+') { // 1.0e+10
			w += "+" + r.word()
		}
		d, err := strconv.ParseFloat(w, 64)
		if err != nil {
			fail("constant %q", w)
		}
		v = math.Float64bits(d)
	}
	switch t.bits {
	case 64:
		return v
	case 32: // spelled as the double that it is; a NaN keeps its bits
		if d := math.Float64frombits(v); d != d {
			return v>>63<<31 | 0x7f800000 | v>>29&0x7fffff
		}
		return uint64(math.Float32bits(float32(math.Float64frombits(v))))
	}
	fail("constant %q", w)
	return 0
}
