// Command compared reads what KUDZU_COMPARE_REPORT collected and says how many different kernels were compared, what differs, and
// what was skipped and why; its exit is 1 if something differs. With replay it runs a dumped launch again.
//
//	compared REPORT...
//	compared replay [-repeat n] [-ptx FILE] DUMP
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"kudzu/internal/backend/compare"
	"kudzu/internal/compile/worker"
)

func main() {
	args := os.Args[1:]
	var err error
	switch {
	case len(args) > 0 && args[0] == "compiler":
		os.Exit(worker.Main(args[1:]))
	case len(args) > 1 && args[0] == "replay":
		err = replay(args[1:])
	case len(args) > 0:
		err = summarise(args, os.Stdout)
	default:
		err = fmt.Errorf("usage: compared REPORT... | compared replay [-repeat n] [-ptx FILE] DUMP")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compared:", err)
		os.Exit(1)
	}
}

// grave is how much an outcome counts among those of one kernel.
var grave = map[string]int{compare.Skipped: 0, compare.Same: 1, compare.Explained: 2, compare.Different: 3}

// kernel is all launches of one text.
type kernel struct {
	worst    compare.Line
	launches int  // compared
	wrote    bool // one of them changed memory
}

func summarise(files []string, out io.Writer) error {
	kernels := map[string]*kernel{}
	launches := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in := bufio.NewScanner(f)
		in.Buffer(nil, 16<<20)
		for in.Scan() {
			var l compare.Line
			if err := json.Unmarshal(in.Bytes(), &l); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			k := kernels[l.Text]
			if k == nil {
				k = &kernel{worst: l}
				kernels[l.Text] = k
			}
			if l.Outcome != compare.Skipped {
				k.launches++
				launches++
			}
			k.wrote = k.wrote || l.Touched > 0
			if grave[l.Outcome] > grave[k.worst.Outcome] {
				k.worst = l
			}
		}
		if err := in.Err(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return tell(kernels, launches, out)
}

func tell(kernels map[string]*kernel, launches int, out io.Writer) error {
	count, wrote := map[string]int{}, 0
	why := map[string]int{}
	var bad []*kernel
	for _, k := range kernels {
		count[k.worst.Outcome]++
		if k.wrote {
			wrote++
		}
		switch k.worst.Outcome {
		case compare.Different:
			bad = append(bad, k)
		case compare.Skipped, compare.Explained:
			why[k.worst.Outcome+": "+short(k.worst.Why)]++
		}
	}
	fmt.Fprintf(out, "%d launches of %d different kernels compared, %d of which changed memory: %d same, %d explained, %d different; %d more were skipped\n",
		launches, len(kernels)-count[compare.Skipped], wrote, count[compare.Same], count[compare.Explained], count[compare.Different], count[compare.Skipped])
	for _, w := range sorted(why) {
		fmt.Fprintf(out, "%6d %s\n", why[w], w)
	}
	slices.SortFunc(bad, func(a, b *kernel) int { return cmp.Compare(a.worst.Kernel, b.worst.Kernel) })
	for _, k := range bad {
		l := &k.worst
		fmt.Fprintf(out, "DIFFERENT %s %s, grid %v, block %v: %s\n", l.Text, l.Kernel, l.Grid, l.Block, l.Why)
		for _, w := range l.Where {
			fmt.Fprintf(out, "    %d words of %d bytes at %s, first at +%d: %s, reference %s\n", w.Words, w.Size, w.Base, w.Offset, w.Device, w.Reference)
		}
		if l.Dump != "" {
			fmt.Fprintf(out, "    dumped to %s\n", l.Dump)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d kernels differ", len(bad))
	}
	return nil
}

// short is a reason up to its figures.
func short(s string) string {
	for i, c := range s {
		if c == ':' && i > 0 {
			return s[:i]
		}
	}
	return s
}

func sorted(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	return keys
}
