package testkit

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/codeobject"
	"kudzu/internal/compile"
	"kudzu/internal/compile/worker"
	"kudzu/internal/devrt"
	"kudzu/internal/ptx"
)

// pipeline is the compiler in this process, once.
var pipeline = sync.OnceValues(func() (*worker.Pipeline, error) { return worker.New("") })

// TestSIMT compiles every case for GPUs, and has LLVM disassemble what is for AMD's. KUDZU_SIMT names other targets, or all of them. Where
// NVIDIA's assembler is found (KUDZU_PTXAS), it must take the PTX that comes out.
func TestSIMT(t *testing.T) {
	p, err := pipeline()
	if err != nil {
		t.Skip(err)
	}
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	targets, turns := []string{"sm_90", "gfx1100", "gfx1201", "gfx90a", "gfx942"}, amdTargets
	if s := os.Getenv("KUDZU_SIMT"); s == "all" {
		targets, turns = append([]string{"sm_90"}, amdTargets...), nil
	} else if s != "" {
		targets, turns = strings.Split(s, ","), nil
	}
	each := func(t *testing.T, target func(i int) string) {
		dir := t.TempDir()
		for i, c := range cases {
			name := caseName(c)
			if *onlyCase != "" && name != *onlyCase || capability(c.PTX) > 90 {
				continue
			}
			t.Run(name, func(t *testing.T) { compileFor(t, p, c, target(i), dir) })
		}
		disassemble(t, dir)
	}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) { each(t, func(int) string { return target }) })
	}
	if len(turns) > 0 { // all the others, a case each
		t.Run("turns", func(t *testing.T) { each(t, func(i int) string { return turns[i%len(turns)] }) })
	}
}

// simtMissing are cases that AMD's GPUs cannot run yet, with what the compiler says.
var simtMissing = map[string]string{
	"sync/cluster":            "barrier.cluster.arrive in a kernel with clusters",
	"memory/vectors_whole":    "an ordered store of 16 bytes",
	"special/reserved_shared": "special register %reserved_smem_offset_1",

	"control/launch_kernels": deviceLaunches,
	"control/launch_order":   deviceLaunches,
	"control/launch_runtime": deviceLaunches,
}

// deviceLaunches is what the compiler says of kernels that launch kernels: no GPU's code gets the device runtime from us. NVIDIA's driver has its own.
const deviceLaunches = "the call of external function cudaGetParameterBufferV2"

func compileFor(t *testing.T, p *worker.Pipeline, c *Case, target, dir string) {
	if target == "sm_90" && strings.Contains(c.PTX, ".target sm_90a") {
		target = "sm_90a"
	}
	tg, _ := compile.GPUTarget(target)
	r, err := p.Run(&compile.Request{PTX: c.PTX, Target: tg})
	why := simtMissing[caseName(c)]
	if target == "sm_90" && why == deviceLaunches {
		why = "the address of"
	}
	if why != "" && (strings.HasPrefix(target, "gfx") || simtMissing[caseName(c)] == deviceLaunches) {
		var u *compile.Unsupported
		if !errors.As(err, &u) || !strings.Contains(u.What, why) {
			t.Errorf("listed as missing (%s): %v", why, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(target, "gfx") {
		readObject(t, r.Image, c, filepath.Join(dir, strings.ReplaceAll(caseName(c), "/", ".")+"@"+target))
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

// readObject links the object, reads back what every kernel says of itself, and keeps the object in a file.
func readObject(t *testing.T, b []byte, c *Case, file string) {
	t.Helper()
	linked, err := codeobject.Link(b)
	if err != nil {
		t.Fatal(err)
	}
	o, err := codeobject.Read(linked)
	if err != nil {
		t.Fatal(err)
	}
	index, err := ptx.IndexModule(c.PTX)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range index.Kernels() {
		got := o.Kernel(k.Name)
		if got == nil {
			t.Errorf("kernel %s is not in the code object", k.Name)
			continue
		}
		checkMetadata(t, got)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
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

// TestAlone: kernels whose warps wait for each other at different places have a wave of 64 lanes for each warp, and no others.
func TestAlone(t *testing.T) {
	p, err := pipeline()
	if err != nil {
		t.Skip(err)
	}
	cases, err := Load(*casesDir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"sync/barriers_of_halves": true, "sync/named_barriers": true, "sync/reduce_tree": false, "sync/barrier_with_exited_threads": false}
	for _, c := range cases {
		alone, ok := want[caseName(c)]
		if !ok {
			continue
		}
		for _, target := range []string{"gfx942", "gfx1100"} {
			tg, _ := compile.GPUTarget(target)
			r, err := p.Run(&compile.Request{PTX: c.PTX, Target: tg})
			if err != nil {
				t.Fatal(err)
			}
			o, err := codeobject.Read(r.Image)
			if err != nil {
				t.Fatal(err)
			}
			has := false
			for _, k := range o.Kernels {
				for i := range k.Args {
					has = has || k.Args[i].Name == devrt.Block
				}
			}
			if has != (alone && target == "gfx942") {
				t.Errorf("%s for %s: a wave for each warp: %v", caseName(c), target, has)
			}
		}
		delete(want, caseName(c))
	}
	if len(want) > 0 {
		t.Errorf("no cases %v", want)
	}
}
