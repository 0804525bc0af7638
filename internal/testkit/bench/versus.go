package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// pair is one row on two builds: every run's median, in milliseconds.
type pair struct {
	name  string
	times [2][]float64
	wrong [2]bool
}

// ratio is above 1 if the second build is faster: of medians, since the quickest of many runs is an accident.
func (p *pair) ratio() float64 { return middle(p.times[0]) / middle(p.times[1]) }

func middle(times []float64) float64 {
	s := slices.Sorted(slices.Values(times))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// runVersus prints what bench/versus.sh measured: bench versus FOLDER.
func runVersus(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: bench versus FOLDER")
	}
	pairs, err := readPairs(args[0])
	if err != nil {
		return err
	}
	return printPairs(os.Stdout, pairs)
}

func readPairs(dir string) ([]*pair, error) {
	var list []*pair
	byName := map[string]*pair{}
	for side, name := range [...]string{"first", "second"} {
		files, err := filepath.Glob(filepath.Join(dir, name+"-*.json"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			var f rowsFile
			if err := json.Unmarshal(b, &f); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			for _, r := range f.Rows {
				p := byName[r.Name]
				if p == nil {
					p = &pair{name: r.Name}
					byName[r.Name] = p
					list = append(list, p)
				}
				p.times[side] = append(p.times[side], r.Kudzu)
				p.wrong[side] = p.wrong[side] || !r.KudzuOK
			}
		}
	}
	slices.SortFunc(list, func(a, b *pair) int { return strings.Compare(a.name, b.name) })
	for _, p := range list {
		if len(p.times[0]) == 0 || len(p.times[1]) == 0 {
			return nil, fmt.Errorf("%s: %s was measured on one side only", dir, p.name)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no figures", dir)
	}
	return list, nil
}

// noteworthy is from which change on a row is marked.
const noteworthy = 0.10

func printPairs(to io.Writer, pairs []*pair) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "row\tfirst ms\tsecond ms\tfirst/second\t\t")
	sum, marked := 0.0, 0
	for _, p := range pairs {
		r, mark := p.ratio(), ""
		sum += math.Log(r)
		switch {
		case r < 1/(1+noteworthy):
			mark = "slower"
		case r > 1+noteworthy:
			mark = "faster"
		}
		if mark != "" {
			marked++
		}
		for side, name := range [...]string{"first", "second"} {
			if p.wrong[side] {
				mark += " " + name + " WRONG"
			}
		}
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\t%.3f\t%s\t\n", p.name, middle(p.times[0]), middle(p.times[1]), r, mark)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "geomean of %d rows: %.4f (above 1: the second is faster); %d rows beyond %.0f %%\n",
		len(pairs), math.Exp(sum/float64(len(pairs))), marked, noteworthy*100)
	return err
}
