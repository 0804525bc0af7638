package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"kudzu/internal/fatbin"
	"kudzu/internal/pack"
)

// packed is what a PTX pack has for the machine code of a file.
type packed struct {
	Library string            `json:"library"`
	Version string            `json:"version"`
	There   bool              `json:"there"` // the store has a pack of that name
	Modules int               `json:"modules"`
	Kernels int               `json:"kernels"`
	Found   int               `json:"found"`
	Refused map[string]string `json:"refused,omitempty"`
}

// packedOf compares the modules of a file that have no PTX with the pack of its name; nil if there is no such module.
func packedOf(file string, data []byte) *packed {
	name := pack.NameOf(file)
	r := &packed{Library: name.Library, Version: name.Version}
	p, err := pack.Find(name)
	if err != nil {
		fmt.Fprintf(os.Stderr, "kudzu: %v\n", err)
	}
	take := func(m *pack.Match) {
		r.Kernels, r.Found = r.Kernels+m.Kernels, r.Found+m.Found
		for k, why := range m.Refused {
			if r.Refused == nil {
				r.Refused = map[string]string{}
			}
			r.Refused[k] = why
		}
	}
	if r.There = p != nil; machineCode(data) != "" {
		if r.Modules = 1; r.There {
			take(p.MatchFile(data))
		}
		return r
	}
	for c := range fatBinaries(data) {
		if hasPTX(c) || !hasMachineCode(c) {
			continue
		}
		if r.Modules++; r.There {
			take(p.Match([]*fatbin.Container{c}))
		}
	}
	if r.Modules == 0 {
		return nil
	}
	return r
}

func hasMachineCode(c *fatbin.Container) bool {
	return slices.ContainsFunc(c.Entries, func(e fatbin.Entry) bool { return e.Kind == fatbin.ELF })
}

// print says what a pack has, or what to do for one.
func (r *packed) print(out io.Writer) {
	if r == nil {
		return
	}
	name := strings.TrimSpace(r.Library + " " + r.Version)
	switch {
	case !r.There && r.Version == "":
		fmt.Fprintf(out, "  it cannot run here, and its version is not known, so no pack can help\n")
	case !r.There:
		fmt.Fprintf(out, "  it cannot run here without a PTX pack. If another build of %s has PTX (kudzu check says so), type:\n    kudzu pack add FILE_OF_THAT_BUILD --version=%s\n", name, r.Version)
	default:
		fmt.Fprintf(out, "  the PTX pack %s has %d of its %d kernels, in %d modules\n", name, r.Found, r.Kernels, r.Modules)
		r.printRefused(out)
	}
}

// shownRefused is how many kernels are named for each reason.
const shownRefused = 3

func (r *packed) printRefused(out io.Writer) {
	by := map[string][]string{}
	for _, k := range sortedKeys(counts(r.Refused)) {
		why, _, _ := strings.Cut(r.Refused[k], " [") // without the sizes
		by[why] = append(by[why], k)
	}
	for _, why := range sortedKeys(counts(by)) {
		names := by[why]
		fmt.Fprintf(out, "  %6d kernels are refused: %s\n", len(names), why)
		for _, n := range names[:min(len(names), shownRefused)] {
			fmt.Fprintf(out, "         %.160s\n", n)
		}
	}
}

// counts has the keys of a map, for sortedKeys.
func counts[V any](m map[string]V) map[string]int {
	out := map[string]int{}
	for k := range m {
		out[k]++
	}
	return out
}
