package replay

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"kudzu/internal/backend"
	"kudzu/internal/backend/interp"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/dump"
	"kudzu/internal/pass"
)

// Options say on what launches run, and how.
type Options struct {
	Backend    string // cpu, cpu:avx2, cpu:avx512, cpu:baseline, cpu:optimised, interp, cuda, hip
	Capability string // that the device claims, "9.0"
	Level      int    // of LLVM's optimisation, as compile.Options has it
	Passes     string // LLVM's passes instead of the level's
	Force      map[string]bool
	Tier       string // "": optimised

	Devices devices.Config // where the compiler and the cache are

	interp interp.With
}

// SetOrder sets the order of blocks, on CPUs and the interpreter: a GPU takes them as it likes.
func (o *Options) SetOrder(s string) error {
	order, err := backend.ParseOrder(s)
	if err != nil {
		return err
	}
	if order != (backend.Order{}) && (o.Backend == "cuda" || o.Backend == "hip") {
		return fmt.Errorf("blocks have an order on CPUs and on the interpreter only; %s begins them as it likes", o.Backend)
	}
	o.interp.Order, o.Devices.Order = order, order
	return nil
}

// SetPasses has passes applied wherever they may be, or never: "a,-b".
func (o *Options) SetPasses(s string) error {
	o.Force = map[string]bool{}
	for _, name := range strings.Split(s, ",") {
		name, off := strings.CutPrefix(name, "-")
		if !slices.Contains(pass.Forcible(), name) {
			return fmt.Errorf("pass %q cannot be forced; those that can are %s", name, strings.Join(pass.Forcible(), ", "))
		}
		o.Force[name] = !off
	}
	return nil
}

// Names are the backends that can be asked for.
var Names = []string{"cpu", "cpu:avx2", "cpu:avx512", "cpu:baseline", "cpu:optimised", "interp", "cuda", "hip"}

// backend makes the backend; visible says that its memory is the process's.
func (o *Options) backend() (b backend.Backend, visible bool, err error) {
	set := func(name, value string) {
		if value != "" && err == nil {
			err = os.Setenv(name, value)
		}
	}
	set(config.Capability, o.Capability)
	cfg := o.Devices
	kind, variant, _ := strings.Cut(o.Backend, ":")
	tier := o.Tier
	switch variant {
	case "":
	case "baseline", "optimised":
		tier = variant
	case "avx2", "avx512":
		need, name := []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.F16C}, "x86-64-v3"
		if variant == "avx512" {
			need, name = []cpuid.FeatureID{cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512CD}, "x86-64-v4"
		}
		if runtime.GOARCH != "amd64" || !cpuid.CPU.Supports(need...) {
			return nil, false, fmt.Errorf("this processor has no %s", variant)
		}
		cfg.Target = compile.Target{Triple: "x86_64-linux-gnu", CPU: name}
	default:
		return nil, false, fmt.Errorf("no backend %q; there are %s", o.Backend, strings.Join(Names, ", "))
	}
	if variant != "" && kind != "cpu" {
		return nil, false, fmt.Errorf("no backend %q; there are %s", o.Backend, strings.Join(Names, ", "))
	}
	switch kind {
	case "cpu":
		if tier == "" {
			tier = compile.Optimised.String()
		}
		set(config.Tier, tier)
		if o.Level != 0 || o.Passes != "" || o.Force != nil {
			cfg.Change = func(r *compile.Request) {
				if o.Level != 0 {
					r.Options.Level = o.Level
				}
				r.Options.Passes, r.Options.Force = o.Passes, o.Force
			}
		}
		return devices.CPU(cfg), true, err
	case "interp":
		return interp.New(interp.Config{}), true, err
	case "cuda":
		return devices.CUDA(cfg, config.Get(config.CUDAVia) == "simt"), false, err
	case "hip":
		return devices.HIP(cfg), false, err
	}
	return nil, false, fmt.Errorf("no backend %q; there are %s", o.Backend, strings.Join(Names, ", "))
}

var target = regexp.MustCompile(`(?m)^[ \t]*\.target[ \t]+sm_([0-9]{2,3})`)

// describe reads the text for a device: a GPU of the vendor's as it is, another as the text wants it.
func (o *Options) describe(f *dump.File, in *backend.Info) (*backend.Module, error) {
	sm := 10*in.Major + in.Minor
	if m := target.FindStringSubmatch(f.PTX); m != nil && !in.OwnPTX && o.Capability == "" {
		sm, _ = strconv.Atoi(m[1])
	}
	text := f.PTX
	if in.OwnPTX {
		text = foreign(text)
	}
	m, err := driver.Describe(f.Kernel, text, sm)
	if err != nil {
		return nil, err
	}
	m.Options = f.Options
	return m, nil
}
