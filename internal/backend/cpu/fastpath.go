package cpu

import (
	"math"
	"sync/atomic"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
)

// What C does without Go: backend.FastPath, by the engine's tickets.

var (
	_ backend.FastPath      = (*Device)(nil)
	_ backend.FastPathQueue = (*Queue)(nil)
	_ backend.EngineQueue   = (*Queue)(nil)
)

// Generation is the engine's.
func (d *Device) Generation() uint64 { return engine.Generation() }

// Changed ends it.
func (d *Device) Changed() { engine.Changed() }

// Counters are C memory.
func (d *Device) Counters(n int) ([]atomic.Uint64, func()) { return engine.Counters(n) }

var asks = [...]engine.Ask{
	backend.AskDevice: engine.AskDevice, backend.AskChosen: engine.AskChosen, backend.AskPrimary: engine.AskPrimary, backend.AskCapture: engine.AskCapture,
}

// Answered leaves the answer with the thread.
func (d *Device) Answered(key backend.TicketKey, ask backend.Ask, of uint64, value [2]uint32) {
	engine.Answered(key.Thread, engineKey(key), asks[ask], of, value)
}

// EngineQueue is the queue itself.
func (q *Queue) EngineQueue() any { return q.q }

// simple is compiled code of a kernel that is launched as it is: without clusters, without launches of its own, in no need of a compilation.
func simple(k backend.Kernel, l *backend.Launch) (*Kernel, *variant) {
	kk, ok := k.(*Kernel)
	if !ok || l.Cooperative || l.Cluster != [3]uint32{} || kk.decl.ReqCluster[0] > 0 {
		return nil, nil
	}
	v := kk.find(l.Block)
	if v == nil || v.run != nil || v.launches || v.cooperative || v.clusters || len(l.Params) < int(v.params) {
		return nil, nil
	}
	return kk, v
}

// reported counts launches, where somebody reads that.
func (k *Kernel) reported() *atomic.Uint64 {
	if r := k.p.dev.b.report; r != nil {
		return &r.counters[ReportLaunches]
	}
	return nil
}

// TicketLaunch is for simple code.
func (q *Queue) TicketLaunch(key backend.TicketKey, k backend.Kernel, l *backend.Launch, limits backend.LaunchLimits, put *atomic.Uint64) {
	kk, v := simple(k, l)
	if v == nil || len(kk.decl.Params) > engine.MaxPassParams || len(l.Params) > engine.MaxPassBytes {
		return
	}
	p := engine.Ticket{
		TicketKey: engineKey(key), Block: l.Block, MaxGrid: limits.Grid, MaxShared: limits.Shared, ParamBytes: len(l.Params), Vars: v.vars, Put: put,
	}
	var places [engine.MaxPassParams][2]uint16
	for i, a := range kk.decl.Params {
		if a.Offset < 0 || a.Size < 0 || a.Offset+a.Size > min(len(l.Params), math.MaxUint16) {
			return
		}
		places[i] = [2]uint16{uint16(a.Offset), uint16(a.Size)}
	}
	p.Params = places[:len(kk.decl.Params)]
	p.Launches = kk.reported()
	q.q.Ticket(key.Thread, v.code, &p)
}

var patches = [...]engine.PatchKind{
	backend.PatchAddress: engine.PatchAddress, backend.PatchUnused: engine.PatchUnused, backend.PatchF32: engine.PatchF32,
	backend.PatchF64: engine.PatchF64, backend.PatchC32: engine.PatchC32, backend.PatchC64: engine.PatchC64,
}

// TicketLibrary is for simple code, too.
func (q *Queue) TicketLibrary(key backend.TicketKey, k backend.Kernel, l *backend.Launch, c *backend.LibraryCall, put *atomic.Uint64) {
	kk, v := simple(k, l)
	if v == nil {
		return
	}
	p := engine.LibraryTicket{
		TicketKey: engineKey(key), ID: c.ID, Args: c.Args, Handle: c.Handle, Modes: c.Now,
		Grid: l.Grid, Block: l.Block, Shared: l.DynamicShared, Params: l.Params, Vars: v.vars, Put: put, Launches: kk.reported(),
	}
	for _, a := range c.Patches {
		p.Patches = append(p.Patches, engine.Patch{Kind: patches[a.Kind], Word: a.Word, Offset: a.Offset, NotZero: a.NotZero})
	}
	q.q.TicketLibrary(key.Thread, v.code, &p)
}

// TicketWait is for any queue.
func (q *Queue) TicketWait(key backend.TicketKey, put, synced *atomic.Uint64, quiet [2]*atomic.Uint64) {
	q.q.TicketWait(key.Thread, &engine.Wait{TicketKey: engineKey(key), Put: put, Synced: synced, Quiet: quiet})
}

func engineKey(k backend.TicketKey) engine.TicketKey {
	return engine.TicketKey{Generation: k.Generation, Func: k.Func, Stream: k.Stream, Context: k.Context}
}
