package interp

import (
	"kudzu/internal/backend"
	"kudzu/internal/devrt"
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
		args[i] = site.args[i].value(t, t.r, t.fp)
	}
	v := fn(t, args)
	if len(site.outs) == 0 {
		return
	}
	m := make([]byte, 8)
	store(m, v)
	site.outs[0].set(t, m)
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
	msg := devrt.Assertion(text(0), text(1), text(3), uint32(argument(args, 2)), c, id)
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
	text, n := devrt.Print(t.text(argument(args, 0)), &list{t, argument(args, 1)})
	t.w.b.g.env.print(text)
	return uint64(n)
}

// list is arguments in memory, each at its natural alignment.
type list struct {
	t    *thread
	next uint64
}

func (l *list) Word(size int) uint64 {
	n := uint64(size)
	l.next = (l.next + n - 1) &^ (n - 1)
	v := load(l.t.mem(ptx.SpaceGeneric, l.next, n, n))
	l.next += n
	return v
}

func (l *list) String() (string, bool) {
	a := l.Word(8)
	if a == 0 {
		return "", false
	}
	return l.t.text(a), true
}
