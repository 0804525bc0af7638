package worker

import (
	"strings"
	"sync"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/image"
	"kudzu/internal/llvm"
)

// backend is the second half of the pipeline: LLVM text to image.
type backend struct {
	lib *llvm.Lib

	mu      sync.Mutex
	helpers map[string][]byte // objects of helper functions by target and names; guarded by mu
}

// level is what an optimisation level means.
type level struct {
	passes  string
	codegen int
}

// combine is instcombine without the check that one run was enough, which as a part of a text pipeline is on and fatal.
const combine = "instcombine<no-verify-fixpoint>"

// required is for every level: a table of addresses has no place in an image, one of distances has.
const required = ",rel-lookup-table-converter"

// levels were chosen by measurement: processor time to compile five of the examples' kernels together (LLVM 19,
// AVX-512), where the code of every list ran equally fast within 5 %. sroa alone 63 ms, level 0 60, with
// loop-rotate and gvn 66, with indvars too 72, O1 94, O2 99, O3 107. The vectors are in the text already and PTX comes
// out of an optimiser, so there is little to find; licm and instcombine stay for what warp code adds to loops.
var levels = [...]level{
	0: {"function(sroa,early-cse," + combine + ",simplifycfg,loop-mssa(licm,simple-loop-unswitch))" + required, 2},
	1: {"function(sroa,early-cse)" + required, 1},
	2: {"function(sroa,early-cse<memssa>," + combine + ",simplifycfg,loop-mssa(loop-rotate,licm),loop(indvars)," + combine + ",gvn,simplifycfg)" + required, 2},
	3: {"default<O3>" + required, 3},
}

// unrolled is level 0 for text that asks for copies of a loop's body: code of single threads, which is short. Its loops must be
// seen as they are (simplifycfg before instcombine, which would fill their empty latches) before they are copied.
const unrolled = "function(sroa,early-cse,simplifycfg," + combine + ",simplifycfg,loop-mssa(licm,simple-loop-unswitch),loop-simplify,lcssa,loop-unroll<no-partial;no-runtime;no-peeling;no-upperbound>," + combine + ",simplifycfg)" + required

// suited is o with the passes that text asks for, where the request leaves them to us.
func suited(o llvm.Options, text string) llvm.Options {
	if o.Passes == levels[0].passes && strings.Contains(text, "llvm.loop.unroll.count") {
		o.Passes = unrolled
	}
	return o
}

// options are LLVM's for a request. The levels' names come from outside: they are clamped.
func (b *backend) options(req *compile.Request) llvm.Options {
	l := levels[min(max(req.Options.Level, 0), len(levels)-1)]
	o := llvm.Options{
		Triple: req.Target.Triple, CPU: req.Target.CPU, Features: req.Target.Features, Passes: l.passes, OptLevel: l.codegen,
	}
	if req.Options.Passes != "" {
		o.Passes = req.Options.Passes
	}
	if o.Triple == "" && o.CPU == "" {
		o.Triple, o.CPU, o.Features = b.lib.Host()
		if !req.Options.AMX {
			o.Features = withoutAMX(o.Features)
		}
	}
	return o
}

// withoutAMX turns the tile registers off: asking the kernel for them makes a host's small sigaltstack fail.
func withoutAMX(features string) string {
	parts := strings.Split(features, ",")
	for i, p := range parts {
		if strings.HasPrefix(p, "+amx") {
			parts[i] = "-" + p[1:]
		}
	}
	return strings.Join(parts, ",")
}

// clock notes the time of each stage.
type clock struct {
	last   time.Time
	stages []compile.Stage
}

func newClock() *clock { return &clock{last: time.Now()} }

func (c *clock) done(stage string) {
	now := time.Now()
	c.stages = append(c.stages, compile.Stage{Name: stage, Nanos: now.Sub(c.last).Nanoseconds()})
	c.last = now
}

// FromLLVM makes the image of a kernel from its LLVM text; meta says the rest. The kernel's function is named entry.
func (b *backend) FromLLVM(text, entry string, meta image.Meta, req *compile.Request, t *clock) ([]byte, error) {
	o := suited(b.options(req), text)
	obj, err := b.lib.Compile(text, o)
	if err != nil {
		return nil, &compile.Failed{Stage: "llvm", Text: err.Error()}
	}
	t.done("llvm")
	helpers, err := b.link(obj, o)
	if err != nil {
		return nil, &compile.Failed{Stage: "helpers", Text: err.Error()}
	}
	img, err := image.Build(obj, entry, meta, helpers...)
	if err != nil {
		return nil, &compile.Failed{Stage: "image", Text: err.Error()}
	}
	t.done("image")
	return img, nil
}

// link gives the objects of the helper functions that obj calls. A name that is no helper stays undefined, and
// image.Build says so.
func (b *backend) link(obj []byte, o llvm.Options) ([][]byte, error) {
	names, err := image.Undefined(obj)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	text, _ := llvm.Helpers(names)
	if text == "" {
		return nil, nil
	}
	key := strings.Join(append([]string{o.Triple, o.CPU, o.Features}, names...), "\x00")
	b.mu.Lock()
	defer b.mu.Unlock()
	if done, ok := b.helpers[key]; ok {
		return [][]byte{done}, nil
	}
	o.Passes, o.OptLevel = "function(instcombine,simplifycfg)", 2
	help, err := b.lib.Compile(text, o)
	if err != nil {
		return nil, err
	}
	if b.helpers == nil {
		b.helpers = map[string][]byte{}
	}
	b.helpers[key] = help
	return [][]byte{help}, nil
}
