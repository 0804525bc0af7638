package onednn

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"kudzu/internal/dl"
	"kudzu/internal/hostmem"
	"kudzu/internal/logx"
	"kudzu/internal/shim/cudnn/nn"
)

// operation is one that the library has made, for tensors anywhere.
type operation struct {
	l         *library
	name      string
	primitive step
	parts     []part
	size      int // of what is laid out anew
	scratch   int // behind it: the largest of all steps
}

// step is one thing that the library executes.
type step struct {
	primitive uintptr
	args      *dl.Buffer
	n         int     // of the arguments
	scratch   uintptr // a memory; 0: it needs none
}

// part is a tensor of an operation.
type part struct {
	which   int     // of X, W and Y
	memory  uintptr // as the program has it
	inner   uintptr // as the library wants it; 0: the same
	at      int     // where, in the library's room
	reorder step
	written bool
}

// line is what the processor fetches at once.
const line = 64

// run does it, on a thread of the engine.
func (o *operation) run(at [3]uint64) {
	l := o.l
	l.running.Lock()
	defer l.running.Unlock()
	base := l.space(o.size + o.scratch)
	do := func(s *step) {
		if s.scratch != 0 {
			o.must("dnnl_memory_set_data_handle", s.scratch, base+uintptr(o.size))
		}
		o.must("dnnl_primitive_execute", s.primitive, l.stream, uintptr(s.n), s.args.Addr())
	}
	for i := range o.parts {
		p := &o.parts[i]
		o.must("dnnl_memory_set_data_handle", p.memory, uintptr(at[p.which]))
		if p.inner != 0 {
			o.must("dnnl_memory_set_data_handle", p.inner, base+uintptr(p.at))
		}
		if p.inner != 0 && !p.written {
			do(&p.reorder)
		}
	}
	do(&o.primitive)
	for i := range o.parts {
		if p := &o.parts[i]; p.inner != 0 && p.written {
			do(&p.reorder)
		}
	}
	o.must("dnnl_stream_wait", l.stream)
	runtime.KeepAlive(o)
}

// must calls what fails only if the machine has no memory left: the operation was accepted, and nobody waits for an answer.
func (o *operation) must(name string, args ...uintptr) {
	if err := o.l.call(name, args...); err != nil {
		logx.Errorf("%s by oneDNN: %v", o.name, err)
	}
}

// space is room for what is laid out anew.
func (l *library) space(n int) uintptr {
	if l.room == nil || len(l.room.Bytes()) < n+line {
		if l.room != nil {
			l.room.Free()
		}
		l.room = dl.Alloc(n + line)
	}
	return (l.room.Addr() + line - 1) &^ (line - 1)
}

// making is an operation while it is made. What is made on the way ends with it; what the operation keeps ends when nobody has it.
type making struct {
	l    *library
	err  error
	ends []func()
	kept []func()
}

// prepare makes an operation. nil: the library has none that is worth it.
func (l *library) prepare(w *nn.Work) (*operation, error) {
	m := &making{l: l}
	defer func() { end(m.ends) }()
	o := m.operation(w)
	if m.err != nil {
		end(m.kept)
		return nil, m.err
	}
	runtime.AddCleanup(o, end, m.kept)
	return o, nil
}

// end undoes things, the last first.
func end(list []func()) {
	for _, f := range slices.Backward(list) {
		f()
	}
}

func (m *making) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// new makes something; destroy ends it, with the operation or with what made it.
func (m *making) new(kept bool, destroy, name string, args ...uintptr) uintptr {
	if m.err != nil {
		return 0
	}
	at, err := m.l.make(name, args...)
	if err != nil {
		m.fail(err)
		return 0
	}
	l := m.l
	f := func() { _ = l.call(destroy, at) } // nobody is left to hear of a failure
	if kept {
		m.kept = append(m.kept, f)
	} else {
		m.ends = append(m.ends, f)
	}
	return at
}

// numbers are 64-bit numbers in memory of C's.
func (m *making) numbers(kept bool, list ...int64) *dl.Buffer {
	b := dl.Alloc(8 * max(len(list), maxDims))
	for i, v := range list {
		binary.LittleEndian.PutUint64(b.Bytes()[8*i:], uint64(v))
	}
	if kept {
		m.kept = append(m.kept, b.Free)
	} else {
		m.ends = append(m.ends, b.Free)
	}
	return b
}

// desc is the descriptor of a tensor, with its strides or however the library likes it.
func (m *making) desc(t nn.Tensor, likes bool) uintptr {
	dims := m.numbers(false, t.Dim...)
	last := anyLayout
	create, fill := "dnnl_memory_desc_create_with_tag", "dnnl_memory_desc_init_by_tag"
	if !likes {
		last = m.numbers(false, t.Stride...).Addr()
		create, fill = "dnnl_memory_desc_create_with_strides", "dnnl_memory_desc_init_by_strides"
	}
	if m.l.newer {
		return m.new(false, "dnnl_memory_desc_destroy", create, uintptr(len(t.Dim)), dims.Addr(), types[t.Type], last)
	}
	b := m.block(descBytes)
	if m.err == nil {
		m.fail(m.l.call(fill, b, uintptr(len(t.Dim)), dims.Addr(), types[t.Type], last))
	}
	return b
}

// block is memory for one of version 2's structs.
func (m *making) block(n int) uintptr {
	b := dl.Alloc(n)
	m.ends = append(m.ends, b.Free)
	return b.Addr()
}

// older makes the descriptor of an operation as version 2 does.
func (m *making) older(hint uintptr, name string, args ...uintptr) uintptr {
	op := m.block(opBytes)
	if m.err == nil {
		m.fail(m.l.call(name, append([]uintptr{op}, args...)...))
	}
	return m.new(false, "dnnl_primitive_desc_destroy", "dnnl_primitive_desc_create", op, m.l.attr, m.l.engine, hint)
}

// newer makes one as version 3 does.
func (m *making) newer(name string, args ...uintptr) uintptr {
	return m.new(false, "dnnl_primitive_desc_destroy", name, append([]uintptr{m.l.engine}, args...)...)
}

// operation makes it, with the reorders it needs.
func (m *making) operation(w *nn.Work) *operation {
	desc, tensors, roles := m.describe(w)
	o := &operation{l: m.l, name: fmt.Sprint(w.Kind)}
	m.judge(desc)
	if m.err != nil {
		return nil
	}
	var args []int64
	for i, t := range tensors {
		if len(t.Dim) == 0 {
			continue
		}
		p := part{which: i, written: writes(w.Kind) == i}
		theirs := m.l.number("dnnl_primitive_desc_query_md", desc, roles[i].query, 0)
		if theirs == 0 {
			m.fail(errRefused)
		}
		m.place(o, &p, m.desc(t, false), uintptr(theirs))
		inner := p.memory
		if p.inner != 0 {
			inner = p.inner
		}
		args = append(args, int64(roles[i].arg), int64(inner))
		o.parts = append(o.parts, p)
	}
	o.primitive = m.step(o, desc, args...)
	return o
}

// step makes what a descriptor says, with these arguments and memory to work in.
func (m *making) step(o *operation, desc uintptr, args ...int64) (s step) {
	s.primitive = m.new(true, "dnnl_primitive_destroy", "dnnl_primitive_create", desc)
	if m.err != nil {
		return s
	}
	if d := uintptr(m.l.number("dnnl_primitive_desc_query_md", desc, scratch.query, 0)); d != 0 {
		if n := round(m.l.number("dnnl_memory_desc_get_size", d)); n > 0 {
			s.scratch = m.new(true, "dnnl_memory_destroy", "dnnl_memory_create", d, m.l.engine, 0)
			args = append(args, int64(scratch.arg), int64(s.scratch))
			o.scratch = max(o.scratch, n)
		}
	}
	s.args, s.n = m.numbers(true, args...), len(args)/2
	return s
}

// round makes a size whole lines.
func round(n uint64) int { return (int(n) + line - 1) &^ (line - 1) }

// place makes the memories of a tensor, and the reorder between them if they differ.
func (m *making) place(o *operation, p *part, ours, theirs uintptr) {
	p.memory = m.new(true, "dnnl_memory_destroy", "dnnl_memory_create", ours, m.l.engine, 0)
	if m.err != nil || m.l.number("dnnl_memory_desc_equal", ours, theirs) != 0 {
		return
	}
	p.inner = m.new(true, "dnnl_memory_destroy", "dnnl_memory_create", theirs, m.l.engine, 0)
	from, to, first, second := ours, theirs, p.memory, p.inner
	if p.written {
		from, to, first, second = theirs, ours, p.inner, p.memory
	}
	desc := m.new(false, "dnnl_primitive_desc_destroy", "dnnl_reorder_primitive_desc_create", from, m.l.engine, to, m.l.engine, m.l.attr)
	p.reorder = m.step(o, desc, int64(argFrom), int64(first), int64(argTo), int64(second))
	p.at = o.size
	o.size += round(m.l.number("dnnl_memory_desc_get_size", theirs))
}

// number calls a function that answers one.
func (l *library) number(name string, args ...uintptr) uint64 {
	f, err := l.so.Find(name)
	if err != nil {
		return 0
	}
	return uint64(f.Call(args...))
}

// judge refuses what the library does with its loops of reference, which are slower than our kernels.
func (m *making) judge(desc uintptr) {
	if m.err != nil {
		return
	}
	out := dl.Alloc(8)
	defer out.Free()
	if err := m.l.call("dnnl_primitive_desc_query", desc, implementation, 0, out.Addr()); err != nil {
		m.fail(err)
		return
	}
	name := hostmem.String(hostmem.Ptr(binary.LittleEndian.Uint64(out.Bytes())))
	if strings.HasPrefix(name, "ref") || strings.Contains(name, ":ref") {
		m.fail(fmt.Errorf("%s: %w", name, errRefused))
	}
}
