package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/compile/worker"
)

// pipeline is the compiler in this process, once.
var pipeline = sync.OnceValues(func() (*worker.Pipeline, error) { return worker.New("") })

// TestSIMT compiles every case for GPUs. Where NVIDIA's assembler is found (KUDZU_PTXAS), it must take the PTX that comes out.
func TestSIMT(t *testing.T) {
	p, err := pipeline()
	if err != nil {
		t.Skip(err)
	}
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	targets := []string{"sm_90"}
	if s := os.Getenv("KUDZU_SIMT"); s != "" {
		targets = strings.Split(s, ",")
	}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			for _, c := range cases {
				name := caseName(c)
				if *onlyCase != "" && name != *onlyCase || capability(c.PTX) > 90 {
					continue
				}
				t.Run(name, func(t *testing.T) { compileFor(t, p, c, target) })
			}
		})
	}
}

func compileFor(t *testing.T, p *worker.Pipeline, c *Case, target string) {
	if target == "sm_90" && strings.Contains(c.PTX, ".target sm_90a") {
		target = "sm_90a"
	}
	tg, _ := compile.GPUTarget(target)
	r, err := p.Run(&compile.Request{PTX: c.PTX, Target: tg})
	if err != nil {
		t.Fatal(err)
	}
	if ptxas := os.Getenv("KUDZU_PTXAS"); ptxas != "" && strings.HasPrefix(target, "sm_") {
		f := filepath.Join(t.TempDir(), "x.ptx")
		if err := os.WriteFile(f, r.Image, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(ptxas, "-arch", target, "-o", f+".cubin", f).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// TestTranslate writes what every case becomes into the folder of -via, for TestRecord on a machine with a GPU.
func TestTranslate(t *testing.T) {
	if *viaDir == "" {
		t.Skip("-via is not given")
	}
	p, err := pipeline()
	if err != nil {
		t.Skip(err)
	}
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		target := "sm_90"
		if strings.Contains(c.PTX, ".target sm_90a") {
			target = "sm_90a"
		}
		if err := Translate(p.Run, *viaDir, c.PTX, target); err != nil && capability(c.PTX) <= 90 {
			t.Errorf("%s: %v", caseName(c), err)
		}
	}
}
