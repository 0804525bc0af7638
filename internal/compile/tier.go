package compile

import (
	"fmt"
	"runtime"

	"kudzu/internal/config"
)

// Tier is how much work goes into the code.
type Tier uint8

// The tiers. Both give the same results.
const (
	Optimised Tier = iota // by libLLVM
	Baseline              // by internal/baseline: slower code, at once, and without libLLVM; x86-64 only
)

// String is the name that settings and options use.
func (t Tier) String() string { return [...]string{"optimised", "baseline"}[min(t, Baseline)] }

// Policy is which tiers kernels go through.
type Policy uint8

// The policies, as KUDZU_TIER names them.
const (
	OptimisedOnly Policy = iota
	BaselineOnly         // and what has no baseline code is optimised
	BothTiers            // baseline first, optimised when it is there
)

// defaultPolicy is what holds when nobody says otherwise.
const defaultPolicy = BothTiers

// PolicyOf reads KUDZU_TIER; the policy is good in any case.
func PolicyOf(setting string) (p Policy, err error) {
	switch setting {
	case "":
		p = defaultPolicy
	case Optimised.String():
		p = OptimisedOnly
	case Baseline.String():
		p = BaselineOnly
	case "auto":
		p = BothTiers
	default:
		p, err = defaultPolicy, fmt.Errorf(config.Tier+"=%s: must be auto, baseline or optimised", setting)
	}
	if runtime.GOARCH != "amd64" { // there is no baseline code
		p = OptimisedOnly
	}
	return p, err
}

// Tiers are those that a launch takes from the cache, the best first.
func (p Policy) Tiers() []Tier {
	return [...][]Tier{OptimisedOnly: {Optimised}, BaselineOnly: {Baseline}, BothTiers: {Optimised, Baseline}}[p]
}
