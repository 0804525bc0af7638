package driver

import (
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// Calls of libraries on the fast path. A library's function that is one launch, whose arguments decide all but addresses and scalars,
// says so (Template): C makes the same launch for calls that differ in those only.

// Modes are two words of a library's handle that decide what its calls do, where C sees them: its stream, and whatever else.
type Modes struct{ words []atomic.Uint64 }

// NewModes are for a new handle. EndTickets must be called when it ends.
func NewModes() *Modes {
	m := &Modes{words: make([]atomic.Uint64, 2)}
	if s := current.Load(); s != nil && s.ready.Load() {
		m.words = counters(s, m, 2)
	}
	return m
}

// Set changes a word.
func (m *Modes) Set(i int, v uint64) {
	if m != nil {
		m.words[i].Store(v)
	}
}

// Patch is an address among a call's arguments, and what it becomes.
type Patch struct {
	backend.Patch
	Value uint64 // the address
}

// Argument is an address that is a parameter, at an offset.
func Argument(p hostmem.Ptr, offset int) Patch {
	return Patch{backend.Patch{Kind: backend.PatchAddress, Offset: offset}, uint64(p)}
}

// Unused is an address that no kernel gets.
func Unused(p hostmem.Ptr) Patch { return Patch{backend.Patch{Kind: backend.PatchUnused}, uint64(p)} }

// HostNumber is the address of a number on the host, f32 or wide, that becomes two parameters of f64. With notZero a call whose number is 0
// is another one.
func HostNumber(p hostmem.Ptr, offset int, wide, complex, notZero bool) Patch {
	kind := backend.PatchF32
	switch {
	case wide && complex:
		kind = backend.PatchC64
	case complex:
		kind = backend.PatchC32
	case wide:
		kind = backend.PatchF64
	}
	return Patch{backend.Patch{Kind: kind, Offset: offset, NotZero: notZero}, uint64(p)}
}

// Template is a launch that calls like the one under way are, but for some arguments. Its handle is the first argument; patches come in
// the order of the arguments.
type Template struct {
	Generation uint64 // as read before the first check
	Handle     uint64
	Modes      *Modes
	Now        [2]uint64 // what they were when the call looked
	Patches    []Patch
}

// LaunchTemplate is LaunchPacked that is all a call does. Without a template it is no more.
func (t *Thread) LaunchTemplate(f cu.CUfunction, grid, block [3]uint32, shared uint32, stream cu.CUstream, params []byte, template *Template) error {
	sc := scratches.Get().(*scratch)
	sc.launch = backend.Launch{Grid: grid, Block: block, DynamicShared: shared}
	sc.given, sc.template = params, template
	err := t.launch(sc, f, stream, hostmem.Nil, hostmem.Nil)
	sc.given, sc.template = nil, nil
	scratches.Put(sc)
	return err
}

// libraryCall is struct kz_library_call of the engine.
type libraryCall struct {
	id, words uint32
	args      hostmem.Ptr
}

// ticketTemplate lets C make calls like the one whose launch was put into st a moment ago.
//
// Preconditions: what begin takes is held.
func (t *Thread) ticketTemplate(sc *scratch, f *Function, stream cu.CUstream, st *Stream) {
	template := sc.template
	q, ok := st.q.(backend.FastPathQueue)
	if !ok || t.Call == 0 || template.Generation == 0 || template.Modes == nil || launchBlocking() {
		return
	}
	call := hostmem.Load[libraryCall](hostmem.Ptr(t.Call))
	c := backend.LibraryCall{ID: call.id, Args: hostmem.Slice[uint64](call.args, int(call.words)), Handle: template.Modes.words, Now: template.Now}
	if len(c.Args) == 0 || c.Args[0] != template.Handle || !locate(&c, template.Patches) {
		return
	}
	if key := t.ticketKey(template.Generation, stream, st); key.Generation != 0 {
		q.TicketLibrary(key, f.kernel, &sc.launch, &c, st.put)
	}
}

// locate finds the argument of every patch by its value. An address that several arguments have belongs to as many patches, in their
// order; where that does not come out even some other argument looks like an address, and there is no ticket. One that is 0 is no
// patch: a call with an address in its place is another call.
func locate(c *backend.LibraryCall, patches []Patch) bool {
	for i := range patches {
		p := &patches[i]
		if p.Value == 0 {
			continue
		}
		same, before, words, at := 0, 0, 0, 0
		for j := range patches {
			if patches[j].Value == p.Value {
				same++
				if j < i {
					before++
				}
			}
		}
		for j, v := range c.Args {
			if v == p.Value {
				if words == before {
					at = j
				}
				words++
			}
		}
		if words != same {
			return false
		}
		p.Word = at
		c.Patches = append(c.Patches, p.Patch)
	}
	return true
}
