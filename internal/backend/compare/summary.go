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
	launches int    // compared
	ran      uint64 // all of the programs; 0: not known
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
		if l.Outcome == Ran {
			s.ran += l.Launches
			continue
		}
		if _, known := grave[l.Outcome]; !known {
			return fmt.Errorf("kernel %.80q: the outcome %.40q is not known", l.Kernel, l.Outcome)
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

// Counts are the figures of a summary: kernels by their worst outcome.
type Counts struct {
	Launches                            int    // compared
	Ran                                 uint64 // all launches of the programs; 0: not known
	Kernels                             int    // compared
	Wrote                               int    // of which so many changed memory
	Same, Explained, Different, Skipped int
}

// Counts sums up.
func (s *Summary) Counts() Counts {
	c := Counts{Launches: s.launches, Ran: s.ran}
	for _, k := range s.kernels {
		*map[string]*int{Same: &c.Same, Explained: &c.Explained, Different: &c.Different, Skipped: &c.Skipped}[k.worst.Outcome]++
		if k.wrote {
			c.Wrote++
		}
	}
	c.Kernels = len(s.kernels) - c.Skipped
	return c
}

// Reasons are why kernels were skipped or explained, the most frequent first, with the count before each.
func (s *Summary) Reasons() []string {
	why := map[string]int{}
	for _, k := range s.kernels {
		if o := k.worst.Outcome; o == Skipped || o == Explained {
			reason, _, _ := strings.Cut(k.worst.Why, ":") // up to its figures
			why[o+": "+reason]++
		}
	}
	var reasons []string
	for w := range why {
		reasons = append(reasons, w)
	}
	slices.SortFunc(reasons, func(a, b string) int { return cmp.Or(cmp.Compare(why[b], why[a]), cmp.Compare(a, b)) })
	for i, w := range reasons {
		reasons[i] = fmt.Sprintf("%6d %s", why[w], w)
	}
	return reasons
}

// Tell writes the summary. with is the reference's name.
func (s *Summary) Tell(out io.Writer, with string) {
	c := s.Counts()
	all := ""
	if c.Ran > 0 {
		all = fmt.Sprintf("; there were %d launches", c.Ran)
	}
	fmt.Fprintf(out, "%d launches of %d different kernels compared with %s, %d of which changed memory: %d same, %d explained, %d different; %d more were skipped%s\n",
		c.Launches, c.Kernels, with, c.Wrote, c.Same, c.Explained, c.Different, c.Skipped, all)
	for _, w := range s.Reasons() {
		fmt.Fprintln(out, w)
	}
	for _, l := range s.Different() {
		fmt.Fprintf(out, "DIFFERENT %s %s, grid %v, block %v: %s\n", l.Text, l.name(), l.Grid, l.Block, l.Why)
		for _, w := range l.Where {
			fmt.Fprintf(out, "    %d words of %d bytes at %s, first at +%d: %s, reference %s\n", w.Words, w.Size, w.Base, w.Offset, w.Device, w.Reference)
		}
	}
}
