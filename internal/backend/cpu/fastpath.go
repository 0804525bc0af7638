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

// TicketLaunch is for compiled code that is launched as it is: without clusters, without launches of its own, in no need of a compilation.
func (q *Queue) TicketLaunch(key backend.TicketKey, k backend.Kernel, l *backend.Launch, limits backend.LaunchLimits, put *atomic.Uint64) {
	kk, ok := k.(*Kernel)
	if !ok || l.Cooperative || l.Cluster != [3]uint32{} || kk.decl.ReqCluster[0] > 0 || len(kk.decl.Params) > engine.MaxPassParams || len(l.Params) > engine.MaxPassBytes {
		return
	}
	v := kk.find(l.Block)
	if v == nil || v.run != nil || v.launches || v.cooperative || v.clusters || len(l.Params) < int(v.params) {
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
	if r := kk.p.dev.b.report; r != nil {
		p.Launches = &r.counters[ReportLaunches]
	}
	q.q.Ticket(key.Thread, v.code, &p)
}

// TicketWait is for any queue.
func (q *Queue) TicketWait(key backend.TicketKey, put, synced *atomic.Uint64, quiet [2]*atomic.Uint64) {
	q.q.TicketWait(key.Thread, &engine.Wait{TicketKey: engineKey(key), Put: put, Synced: synced, Quiet: quiet})
}

func engineKey(k backend.TicketKey) engine.TicketKey {
	return engine.TicketKey{Generation: k.Generation, Func: k.Func, Stream: k.Stream, Context: k.Context}
}
