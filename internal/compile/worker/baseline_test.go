package worker

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/baseline"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/image"
	"kudzu/internal/pass"
)

// returnZero stands in for the baseline compiler: code that does nothing, for whatever text.
func returnZero(string, string, baseline.Target) (*baseline.Code, error) {
	return &baseline.Code{Bytes: []byte{0x31, 0xc0, 0xc3, 0, 1, 2, 3, 4}, Text: 3, Lines: []image.Line{{Offset: 0, Line: 7}}}, nil
}

// atBaseline is a request for baseline code.
func atBaseline(name string) *compile.Request {
	r := request(name)
	r.Target = compile.Target{Triple: "x86_64-linux-gnu", CPU: "haswell"}
	r.Options.Tier = compile.Baseline
	return r
}

// A machine without libLLVM has baseline code and facts, and says for the rest that it has no compiler; in any order.
func TestBaselineWithoutLLVM(t *testing.T) {
	c := compile.New(compile.Config{Command: self(t), Env: append(config.ForCompiler(), "KUDZU_TEST_NOLLVM=1")})
	defer c.Close()
	for range 2 {
		r, err := c.Compile(atBaseline("k"))
		if err != nil {
			t.Fatal(err)
		}
		if im := r.Parsed; im.Machine != image.X86_64 || im.Text != 3 || len(im.Code) != 8 || im.Meta.Line(2) != 7 || im.Meta.Kernel != "k" || r.LLVM != "" {
			t.Errorf("image %+v of libLLVM %q", im, r.LLVM)
		}
		var no *compile.NoCompiler
		if _, err := c.Compile(request("k")); !errors.As(err, &no) || !strings.Contains(no.Why, "apt install") {
			t.Errorf("optimised: %v", err)
		}
		const text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n"
		if f, err := c.Facts(&compile.Request{PTX: text, Kernel: "k"}); err != nil || f.PTXVersion != 70 {
			t.Errorf("facts: %+v, %v", f, err)
		}
	}
	var cannot *compile.Unsupported
	if _, err := c.Compile(atBaseline("unsupported_here")); !errors.As(err, &cannot) {
		t.Errorf("what the front half cannot: %v", err)
	}
}

// Baseline code is for x86-64; what it cannot do is told apart from mistakes.
func TestBaselineUnsupported(t *testing.T) {
	p := NewBaseline()
	p.front, p.translate = fromText, returnZero
	for _, target := range []compile.Target{{Triple: "aarch64-linux-gnu", CPU: "neoverse-n1"}, {Triple: "x86_64-linux-gnu", CPU: "nocona"}, {CPU: "x", Features: "+sse4.2"}} {
		r := atBaseline("k")
		r.Target = target
		var cannot *compile.Unsupported
		if _, err := p.Run(r); !errors.As(err, &cannot) {
			t.Errorf("%v: %v", target, err)
		}
	}
	p.translate = func(string, string, baseline.Target) (*baseline.Code, error) {
		return nil, &baseline.Unsupported{What: "llvm.nothing"}
	}
	var cannot *compile.Unsupported
	if _, err := p.Run(atBaseline("k")); !errors.As(err, &cannot) || cannot.Error() != "baseline code: llvm.nothing is not supported" {
		t.Errorf("%v", err)
	}
	p.translate = func(string, string, baseline.Target) (*baseline.Code, error) { return nil, errors.New("BUG") }
	var failed *compile.Failed
	if _, err := p.Run(atBaseline("k")); !errors.As(err, &failed) || failed.Stage != "baseline" {
		t.Errorf("%v", err)
	}
}

// Arithmetic on halves has baseline code on machines with instructions for it too.
func TestBaselineHalves(t *testing.T) {
	const text = `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
	.reg .b64 %p;
	.reg .b16 %h<3>;
	.reg .pred %q;
	ld.param.u64 %p, [p];
	ld.global.b16 %h0, [%p];
	fma.rn.f16 %h1, %h0, %h0, %h0;
	setp.lt.f16 %q, %h0, %h1;
	@%q add.f16 %h1, %h1, %h0;
	st.global.b16 [%p], %h1;
	ret;
}
`
	r := &compile.Request{PTX: text, Kernel: "k", Block: [3]uint32{32, 1, 1}, Options: compile.Options{Tier: compile.Baseline},
		Target: compile.Target{CPU: "sapphirerapids", Features: level4 + ",+avx512fp16"}}
	if _, err := NewBaseline().Run(r); err != nil {
		t.Error(err)
	}
}

// The features that we read are those that libLLVM reads.
func TestHostFeatures(t *testing.T) {
	p, err := New("")
	if err != nil {
		t.Skip(err)
	}
	triple, _, theirs := p.backend.lib.Host()
	if !strings.HasPrefix(triple, "x86_64") {
		if _, _, err := baselineTarget(compile.Target{}); err == nil {
			t.Errorf("baseline code for %s", triple)
		}
		return
	}
	ours, want := baseline.TargetOf(hostFeatures()), baseline.TargetOf(theirs)
	for _, f := range cpuFeatures {
		if ours.Has(f.name) != want.Has(f.name) {
			t.Errorf("%s: we say %v", f.name, ours.Has(f.name))
		}
	}
	if ours.AVX512 != want.AVX512 {
		t.Errorf("AVX-512: we say %v", ours.AVX512)
	}
}

// A pass that baseline code goes without can be left out.
func TestBaselinePasses(t *testing.T) {
	for name := range baselineForce {
		if !slices.Contains(pass.Forcible(), name) {
			t.Errorf("pass %s", name)
		}
	}
}
