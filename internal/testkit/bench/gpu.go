package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"kudzu/internal/compile"
	"kudzu/internal/ptx"
)

// runGPU compiles kernels for GPUs and tells how many can be and how long each took: those of PTX files, and a sample of a library's.
func runGPU(args []string) error {
	fs := flag.NewFlagSet("gpu", flag.ContinueOnError)
	targets := fs.String("targets", "sm_90,gfx1100,gfx1201,gfx90a,gfx942", "what to compile for")
	kudzu := fs.String("kudzu", "dist/bin/kudzu", "the compiler process")
	apps := fs.String("apps", "", "also kernels of this library")
	count := fs.Int("count", 500, "how many of the library's")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var units []unit
	for _, file := range fs.Args() {
		more, err := fileUnits(file)
		if err != nil {
			return err
		}
		units = append(units, more...)
	}
	if *apps != "" {
		more, err := libraryUnits(*apps, *count)
		if err != nil {
			return err
		}
		units = append(units, more...)
	}
	path, err := filepath.Abs(*kudzu)
	if err != nil {
		return err
	}
	c := compile.New(compile.Config{Command: []string{path, "compiler"}})
	defer c.Close()
	fmt.Printf("%d kernels\n\n| target | compiled | refused | failed | median ms | 90 %% ms | longest ms |\n|---|---|---|---|---|---|---|\n", len(units))
	for _, t := range strings.Split(*targets, ",") {
		if err := compileGPU(c, units, t); err != nil {
			return err
		}
	}
	return nil
}

// fileUnits are the kernels of a PTX file.
func fileUnits(file string) ([]unit, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	x, err := ptx.IndexModule(string(text))
	if err != nil {
		return nil, err
	}
	var units []unit
	for _, k := range x.Kernels() {
		u, err := newUnit(x, k.Name, filepath.Base(file), "")
		if err != nil {
			return nil, err
		}
		units = append(units, u)
	}
	return units, nil
}

func compileGPU(c *compile.Client, units []unit, name string) error {
	target, ok := compile.GPUTarget(name)
	if !ok {
		return fmt.Errorf("%s is no GPU", name)
	}
	var took []float64
	refused, failed := map[string]int{}, map[string]int{}
	nRefused, nFailed := 0, 0
	for i := range units {
		start := time.Now()
		_, err := c.Object(&compile.Request{PTX: units[i].text, Kernel: units[i].Kernel, Target: target}, func([]byte) error { return nil })
		var u *compile.Unsupported
		switch {
		case err == nil:
			took = append(took, ms(time.Since(start)))
		case errors.As(err, &u):
			nRefused++
			refused[u.What]++
		default:
			nFailed++
			first, _, _ := strings.Cut(err.Error(), "\n")
			failed[units[i].Kernel+": "+first]++
		}
	}
	sort.Float64s(took)
	at := func(share float64) float64 {
		if len(took) == 0 {
			return 0
		}
		return took[min(int(share*float64(len(took))), len(took)-1)]
	}
	fmt.Printf("| %s | %d | %d | %d | %.1f | %.1f | %.1f |\n", name, len(took), nRefused, nFailed, at(0.5), at(0.9), at(1))
	for why, n := range refused {
		fmt.Printf("  refused %d: %s\n", n, why)
	}
	for why := range failed {
		fmt.Printf("  failed: %s\n", why)
	}
	return nil
}
