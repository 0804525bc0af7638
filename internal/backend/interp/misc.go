package interp

import "kudzu/internal/backend"

func decodeTrap(*decoder) step {
	return step{lane: func(t *thread) { t.fault(backend.FaultTrap, "") }}
}

// decodeBrkpt is trap: there is no debugger.
func decodeBrkpt(*decoder) step {
	return step{lane: func(t *thread) { t.fault(backend.FaultTrap, "brkpt without a debugger") }}
}

// decodeNanosleep lets others run; the time itself would only slow the oracle down.
func decodeNanosleep(*decoder) step {
	return step{warp: func(w *warp, _ uint32) { w.yielded = true }}
}

// decodeNothing is an instruction without an effect here: performance events, register counts.
func decodeNothing(*decoder) step { return step{lane: func(*thread) {}} }
