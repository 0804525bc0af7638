// Package devrt is the device runtime on GPUs whose driver lends programs none: vprintf, malloc, free and __assertfail in PTX (the
// *.cu here, made by scripts/kernels.sh), functions that sample textures (c/*.c), the memory through which they speak to the host, and how the host reads it. Formatting
// is here once, for every backend in Go.
//
// There are three variables, which the backend places: the table of textures, the mailbox, a ring of records that the host empties when it waits for the
// device, and the heap. A record is its kind (written last, 0 until then), its length, and its parts. A kernel that traps says so in
// the mailbox and ends: the host calls that a fault when it looks, and the process lives.
package devrt

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"

	_ "embed"

	"kudzu/internal/packed"
)

// The names of the variables.
const (
	Mailbox  = "kudzu_mailbox"
	Heap     = "kudzu_heap"
	Textures = "kudzu_textures" // texture.go
)

// Workspace is the argument behind a kernel's own that is the address of a cooperative launch's memory, or 0: two words, how many bytes they are
// and the grid's barrier, which cooperative groups count in. A launch finds the barrier at 0.
const (
	Workspace      = "kudzu_workspace"
	WorkspaceBytes = 8
	WorkspaceCount = 4 // where the barrier lies
)

// Block is the last argument of a kernel that wants a wave of 64 lanes for each warp: the block's sizes as the program knows them, 16 bits each.
// Such a kernel is launched with BlockLanes lanes for each warp, in one dimension.
const (
	Block      = "kudzu_block"
	BlockLanes = 64
)

// The layout of the mailbox, as devrt.h has it: words at these offsets, then the ring.
const (
	headAt    = 0
	TailAt    = 4 // the host writes it
	sizeAt    = 8
	droppedAt = 12
	TrappedAt = 16 // not 0 once a thread has trapped
	StoppedAt = 20 // why, where that is known: Stopped…
	HeadBytes = 64 // before the ring
)

const (
	recordHead = 8
	maxRecord  = 64 << 10

	kindPrint     = 1
	kindAssertion = 2
)

//go:embed zkernels.lz4
var packedTexts []byte

var texts = packed.New(packedTexts)

// provided are the functions, and the name of the text that defines each.
var provided = map[string]string{
	"vprintf": "print", "__assertfail": "assert", "malloc": "heap", "free": "heap",
	"kudzu_tex": "fetch", "kudzu_tex_cube": "cube", "kudzu_tex_gather": "gather", "kudzu_tex_query": "query",
	"kudzu_surf_load": "surface", "kudzu_surf_store": "surface", "kudzu_surf_storep": "surface", "kudzu_surf_reduce": "surface",
}

// Provides reports a function that there is PTX for.
func Provides(function string) bool { return provided[function] != "" }

// Define appends the definitions of functions to a module's text, which declares them; its lines keep their numbers.
func Define(text string, functions []string) string {
	for _, f := range functions {
		declared := regexp.MustCompile(`\.extern(\s+\.func\s+(?:\([^)]*\)\s*)?` + regexp.QuoteMeta(f) + `\s*\()`)
		text = declared.ReplaceAllString(text, ".visible$1")
	}
	var b strings.Builder
	b.WriteString(text)
	have := map[string]bool{}
	for _, f := range functions {
		name := provided[f]
		if name == "" || have[name] {
			continue
		}
		have[name] = true
		b.WriteString("\n" + body(texts.Text(name)))
	}
	return b.String()
}

// body is a module without what only a module's beginning has.
func body(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, ".version") && !strings.HasPrefix(line, ".target") && !strings.HasPrefix(line, ".address_size") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// NewMailbox is a mailbox's bytes before anything is in it; ring is a power of two.
func NewMailbox(ring uint32) []byte {
	b := make([]byte, HeadBytes+ring)
	binary.LittleEndian.PutUint32(b[sizeAt:], ring)
	return b
}

// heapHead is the heap's own words: lock, the bounds of what was never given away, and lists of what is free.
const heapHead = 24 + 32*8

// NewHeap is the beginning of a heap of n bytes at an address.
func NewHeap(at, n uint64) []byte {
	b := make([]byte, heapHead)
	binary.LittleEndian.PutUint64(b[8:], (at+heapHead+15)&^15)
	binary.LittleEndian.PutUint64(b[16:], at+n)
	return b
}

// State is a mailbox's head as the host reads it.
type State struct {
	head, tail, size uint32
	Dropped          uint32 // records that found no room, ever
	Trapped          bool
	Stopped          uint32 // why it trapped, 0 if that is not known
}

// ReadState reads that of a mailbox with a ring of that size. Anything may be there: a program can write to all memory of its device.
func ReadState(b []byte, ring uint32) (s State, ok bool) {
	le := binary.LittleEndian
	if len(b) < HeadBytes {
		return s, false
	}
	s = State{le.Uint32(b[headAt:]), le.Uint32(b[TailAt:]), le.Uint32(b[sizeAt:]), le.Uint32(b[droppedAt:]), le.Uint32(b[TrappedAt:]) != 0, le.Uint32(b[StoppedAt:])}
	ok = s.size == ring && s.head-s.tail <= s.size && s.tail%8 == 0
	return s, ok
}

// Pending reports records that wait.
func (s *State) Pending() bool { return s.head != s.tail }

// Message is what a kernel said.
type Message struct {
	Text      string
	Assertion bool // a failed one: the kernel has ended
}

// Drain reads the records that are complete, in order, from the ring's bytes. What they took, from the old tail to the new one, is to
// be cleared on the device before the new tail is written there.
func (s *State) Drain(ring []byte) (list []Message, from, tail uint32) {
	le := binary.LittleEndian
	if uint64(len(ring)) < uint64(s.size) {
		return nil, s.tail, s.tail
	}
	ring = ring[:s.size]
	for tail = s.tail; s.head-tail >= recordHead; {
		at := tail & (s.size - 1) // a multiple of 8, so the record's head does not wrap
		kind, n := le.Uint32(ring[at:]), le.Uint32(ring[at+4:])
		if kind == 0 {
			break // still being written
		}
		if n < recordHead || n%8 != 0 || n > maxRecord || n > s.head-tail { // a program wrote here: nothing behind can be found
			return list, s.tail, s.head &^ 7
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = ring[(at+uint32(i))&(s.size-1)]
		}
		list = append(list, message(kind, b[recordHead:]))
		tail += n
	}
	return list, s.tail, tail
}

func message(kind uint32, b []byte) Message {
	r := &record{b}
	switch kind {
	case kindPrint:
		text, _ := Print(r.text(), r)
		return Message{Text: text}
	case kindAssertion:
		var id [7]uint32
		for i := range id {
			id[i] = uint32(r.number(4))
		}
		m, file, function := r.text(), r.text(), r.text()
		return Message{Assertion(m, file, function, id[0], [3]uint32(id[1:4]), [3]uint32(id[4:7])), true}
	}
	return Message{}
}

// Assertion is the line that a failed assertion prints.
func Assertion(message, file, function string, line uint32, block, thread [3]uint32) string {
	return fmt.Sprintf("%s:%d: %s: block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `%s` failed.", file, line, function,
		block[0], block[1], block[2], thread[0], thread[1], thread[2], message)
}

// record is what is left of a record's parts; behind its end there are zeros.
type record struct{ b []byte }

func (r *record) number(n int) uint64 {
	var v [8]byte
	k := copy(v[:n], r.b)
	r.b = r.b[k:]
	return binary.LittleEndian.Uint64(v[:])
}

func (r *record) text() string {
	s, rest, _ := strings.Cut(string(r.b), "\x00")
	r.b = r.b[len(r.b)-len(rest):]
	return s
}

// Word is the next argument; all are put down in 8 bytes.
func (r *record) Word(size int) uint64 {
	v := r.number(8)
	if size == 4 {
		v = uint64(uint32(v))
	}
	return v
}

func (r *record) String() (string, bool) {
	if r.number(1) == 0 {
		return "", false
	}
	return r.text(), true
}
