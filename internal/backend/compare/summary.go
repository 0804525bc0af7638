package compare

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// grave is how much an outcome counts among those of one kernel.
var grave = map[string]int{Skipped: 0, Same: 1, Explained: 2, Different: 3}

// Summary is what reports have, by kernel.
type Summary struct {
	kernels  map[string]*summed
	launches int
}

// summed is all launches of one text.
type summed struct {
	worst    Line
	launches int  // compared
	wrote    bool // one of them changed memory
}

// Summarise reads reports.
func Summarise(files ...string) (*Summary, error) {
	s := &Summary{kernels: map[string]*summed{}}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		err = s.read(f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return s, nil
}

func (s *Summary) read(r io.Reader) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var l Line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return err
		}
		k := s.kernels[l.Text]
		if k == nil {
			k = &summed{worst: l}
			s.kernels[l.Text] = k
		}
		if l.Outcome != Skipped {
			k.launches++
			s.launches++
		}
		k.wrote = k.wrote || l.Touched > 0
		if grave[l.Outcome] > grave[k.worst.Outcome] {
			k.worst = l
		}
	}
	return in.Err()
}

// Different are the kernels that differ, a line of each.
func (s *Summary) Different() []*Line {
	var bad []*Line
	for _, k := range s.kernels {
		if k.worst.Outcome == Different {
			bad = append(bad, &k.worst)
		}
	}
	slices.SortFunc(bad, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Text, b.Text))
	})
	return bad
}

// Tell writes the summary. with is the reference's name.
func (s *Summary) Tell(out io.Writer, with string) {
	count, wrote := map[string]int{}, 0
	why := map[string]int{}
	for _, k := range s.kernels {
		count[k.worst.Outcome]++
		if k.wrote {
			wrote++
		}
		if o := k.worst.Outcome; o == Skipped || o == Explained {
			reason, _, _ := strings.Cut(k.worst.Why, ":") // up to its figures
			why[o+": "+reason]++
		}
	}
	fmt.Fprintf(out, "%d launches of %d different kernels compared with %s, %d of which changed memory: %d same, %d explained, %d different; %d more were skipped\n",
		s.launches, len(s.kernels)-count[Skipped], with, wrote, count[Same], count[Explained], count[Different], count[Skipped])
	var reasons []string
	for w := range why {
		reasons = append(reasons, w)
	}
	slices.SortFunc(reasons, func(a, b string) int { return cmp.Or(cmp.Compare(why[b], why[a]), cmp.Compare(a, b)) })
	for _, w := range reasons {
		fmt.Fprintf(out, "%6d %s\n", why[w], w)
	}
	for _, l := range s.Different() {
		fmt.Fprintf(out, "DIFFERENT %s %s, grid %v, block %v: %s\n", l.Text, l.Kernel, l.Grid, l.Block, l.Why)
		for _, w := range l.Where {
			fmt.Fprintf(out, "    %d words of %d bytes at %s, first at +%d: %s, reference %s\n", w.Words, w.Size, w.Base, w.Offset, w.Device, w.Reference)
		}
	}
}
