package pages

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"kudzu/internal/emit/simt"
	"kudzu/internal/ir"
	"kudzu/internal/lower"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/ptx/isa/spell"
)

// simtTargets are the targets that the page is about: one of each kind.
var simtTargets = [...]string{"sm_90a", "gfx1100", "gfx90a"}

// simtCount is what became of the spellings of a chapter for one target.
type simtCount struct {
	through, kept, missing int
	why                    map[string]int
}

// simtChapter is the count of a chapter.
type simtChapter struct {
	name  string
	tried int
	by    [len(simtTargets)]simtCount
}

// simtCoverage asks the emitter for GPUs about every spelling that sm_90a takes.
func simtCoverage() []simtChapter {
	var all []simtChapter
	for _, c := range isa.Chapters() {
		ch := simtChapter{name: c.Name}
		for i := range ch.by {
			ch.by[i].why = map[string]int{}
		}
		for _, f := range c.Forms {
			for _, line := range linesOf(f) {
				ch.try(f, line)
			}
		}
		if ch.tried > 0 {
			all = append(all, ch)
		}
	}
	return all
}

func (ch *simtChapter) try(f *isa.Form, line string) {
	text := wrap(spell.Profile{Target: "sm_90a", Version: "9.0"}, f, line)
	m, err := ptx.ParseModule(text)
	if err != nil || !uses(m, f) || check.Module(m) != nil {
		return
	}
	ch.tried++
	for i, target := range simtTargets {
		n := &ch.by[i]
		code, err := threadCode(m, target)
		switch {
		case err != nil:
			n.missing++
			n.why[reason(err)]++
		case code.Ways[simt.Kept] > 0:
			n.kept++
		default:
			n.through++
		}
	}
}

// threadCode takes the kernel to LLVM's text for a GPU.
func threadCode(m *ptx.Module, target string) (*simt.Code, error) {
	opts := lower.Options{GPU: true, Approximate: !strings.HasPrefix(target, "sm_")}
	if strings.HasPrefix(target, "sm_") {
		opts.Keep, opts.NVIDIA = lower.KeepNVPTX, true
	} else if text, names := lower.CallTextures(m); len(names) > 0 {
		var err error
		if m, err = ptx.ParseModule(text + empty(text, names)); err != nil {
			return nil, err
		}
		if err := check.Module(m); err != nil {
			return nil, err
		}
	}
	k, err := lower.Kernel(m, "k", opts)
	if err != nil {
		return nil, err
	}
	// No passes: they would take away what nobody reads the result of.
	var params []simt.Param
	for _, p := range m.Func("k").Params {
		params = append(params, simt.Param{Offset: int(p.Offset), Size: int(p.Size), Align: max(p.Align, 1)})
	}
	return simt.Emit([]simt.Kernel{{IR: k, Params: params}}, simt.Config{Target: target})
}

// empty defines functions that a text declares, with nothing in them: what they do is compiled and compared elsewhere, and long.
func empty(text string, names []string) string {
	s := ""
	for _, n := range names {
		head := regexp.MustCompile(`\.visible \.func [^;]*\b` + n + ` [^;]*`).FindString(text)
		s += head + " { ret; }\n"
	}
	return s
}

// simtPage writes docs/zsimt.md.
func simtPage(all []simtChapter) (string, error) {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	b.WriteString(header("internal/emit/simt and internal/ptx/isa"))
	p(`# PTX on GPUs

What internal/emit/simt, which compiles one thread per lane, makes of PTX. Every spelling of the instruction table that
sm_90a accepts (up to %d of each form) is lowered and emitted: *through* the IR, *kept* as the instruction it was (on
NVIDIA's GPUs: units that we do not rebuild), or *missing*, which is an error with the instruction and its line. For
AMD's GPUs instructions on textures and surfaces are calls of functions that sample in software (internal/devrt), so
that no `+"`texread` and `texwrite`"+` is left to emit. What was verified is in [amd-results.md](amd-results.md) and, for
NVIDIA's GPUs, in [bench/nvptx.md](bench/nvptx.md).

| chapter | tried |`, spellings)
	for _, t := range simtTargets {
		p(" %s: through | kept | missing |", t)
	}
	p("\n|---|---|%s\n", strings.Repeat("---|---|---|", len(simtTargets)))
	sum := simtChapter{name: "**all**"}
	for _, c := range all {
		simtLine(p, &c)
		sum.tried += c.tried
		for i := range c.by {
			sum.by[i].through += c.by[i].through
			sum.by[i].kept += c.by[i].kept
			sum.by[i].missing += c.by[i].missing
		}
	}
	simtLine(p, &sum)
	p("\n## What is missing, and how many spellings\n")
	for i, t := range simtTargets {
		p("\n%s:\n\n", t)
		why := map[string]int{}
		for _, c := range all {
			for w, n := range c.by[i].why {
				why[w] += n
			}
		}
		for _, w := range sortedKeys(why) {
			p("- %d: %s\n", why[w], w)
		}
	}
	err := simtOps(p)
	return b.String(), err
}

func simtLine(p func(string, ...any), c *simtChapter) {
	p("| %s | %d |", c.name, c.tried)
	for i := range c.by {
		p(" %d | %d | %d |", c.by[i].through, c.by[i].kept, c.by[i].missing)
	}
	p("\n")
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return m[keys[i]] > m[keys[j]] || m[keys[i]] == m[keys[j]] && keys[i] < keys[j] })
	return keys
}

// simtOps writes the table of the IR's operations.
func simtOps(p func(string, ...any)) error {
	p("\n## The operations of the IR\n\nHow each is written: plain LLVM is the same text for every target.\n\n| operation |")
	for _, t := range simtTargets {
		p(" %s |", t)
	}
	p("\n|---|%s\n", strings.Repeat("---|", len(simtTargets)))
	for op := ir.Invalid + 1; op < ir.NumOps; op++ {
		p("| `%s` |", op)
		for _, t := range simtTargets {
			w, err := simt.WayOf(t, op)
			if err != nil {
				return err
			}
			p(" %s |", w)
		}
		p("\n")
	}
	return nil
}
