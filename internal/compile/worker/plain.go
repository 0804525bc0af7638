package worker

import (
	"errors"
	"fmt"
	"strings"

	"kudzu/internal/compile"
)

// A mistake of ours in a pass that only makes code faster should cost speed, not the kernel. Where a compilation fails by one (IR that
// does not verify, a panic, text that LLVM does not take or dies of), the second attempt is made without those passes.

// attempt compiles a request, and once more without optional passes if it failed by a mistake of ours.
func attempt(run compiler, req *compile.Request) (*compile.Result, error) {
	r, err := protect(run, req)
	var ours *compile.Failed
	if errors.As(err, &ours) && canBePlain(req) {
		again := plain(req, ours.Error())
		if other, e := protect(run, again); e == nil {
			r, err, req = other, nil, again
		}
	}
	if r != nil {
		r.Plain = req.Options.Plain
	}
	return r, err
}

// canBePlain reports a request for code of which nobody wants to see how it is made.
func canBePlain(req *compile.Request) bool {
	return req.Options.Plain == "" && req.Options.Force == nil && len(req.Emit) == 0 && req.Dump == "" && !req.FactsOnly && req.NVVM == nil && req.CUDA == nil &&
		!req.Target.GPU()
}

// plain is req without optional passes, because of why.
func plain(req *compile.Request, why string) *compile.Request {
	again := *req
	why, _, _ = strings.Cut(why, "\n")
	again.Options.Plain = why
	return &again
}

// afterDeath is the request for the second worker, where the first one died of f: as it was, or plain if it died of what it did.
func afterDeath(f compile.Frame, death *compile.Crash) compile.Frame {
	ours := faults[death.Signal] || strings.Contains(death.Detail, "LLVM ERROR")
	if !ours || strings.Contains(death.Detail, "out of memory") {
		return f
	}
	req, timeoutMS, err := compile.DecodeRequest(f)
	if err != nil || !canBePlain(req) {
		return f
	}
	again, err := compile.EncodeRequest(f.ID, plain(req, fmt.Sprintf("the compiler process ended with %s: %s", death.Signal, death.Detail)), timeoutMS)
	if err != nil {
		return f
	}
	return again
}

// faults are the ends that a process brings about itself.
var faults = func() map[string]bool {
	m := map[string]bool{}
	for s := range signalNames {
		m[s.String()] = true
	}
	return m
}()
