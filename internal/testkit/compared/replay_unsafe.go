package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"kudzu/internal/backend"
	"kudzu/internal/backend/compare"
	"kudzu/internal/cache"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
)

// replay runs a dumped launch on both executors, from the memory it had, at the addresses it had.
func replay(args []string) error {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	repeat := flags.Int("repeat", 1, "how often")
	text := flags.String("ptx", "", "other text of the kernel")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("replay wants a folder")
	}
	dir := flags.Arg(0)
	d, memory, err := read(dir)
	if err != nil {
		return err
	}
	if *text == "" {
		*text = filepath.Join(dir, "kernel.ptx")
	}
	ptx, err := os.ReadFile(*text)
	if err != nil {
		return err
	}
	// Before any device is open: its own memory then goes elsewhere.
	regions, err := place(d.Regions)
	if err != nil {
		return err
	}
	r, err := load(d, regions, string(ptx))
	if err != nil {
		return err
	}
	for range *repeat {
		if err := r.run(memory); err != nil {
			return err
		}
	}
	return nil
}

func read(dir string) (*compare.Dumped, []byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, "launch.json"))
	if err != nil {
		return nil, nil, err
	}
	d := &compare.Dumped{}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, nil, err
	}
	memory, err := os.ReadFile(filepath.Join(dir, "memory"))
	return d, memory, err
}

// place maps memory where it was.
func place(regions [][2]uint64) ([][]byte, error) {
	const page, fixedNoReplace = 4096, 0x100000
	var all [][]byte
	end := uint64(0) // of what is mapped
	for _, r := range regions {
		first, last := max(r[0]&^(page-1), end), (r[0]+r[1]+page-1)&^(page-1)
		if last > first {
			p, _, e := syscall.Syscall6(syscall.SYS_MMAP, uintptr(first), uintptr(last-first), syscall.PROT_READ|syscall.PROT_WRITE,
				syscall.MAP_PRIVATE|syscall.MAP_ANON|fixedNoReplace, ^uintptr(0), 0)
			if e != 0 || uint64(p) != first {
				return nil, fmt.Errorf("no memory at %#x: %v", first, e)
			}
			end = last
		}
		at := uintptr(r[0])
		all = append(all, unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), r[1]))
	}
	return all, nil
}

// rerun is a launch that can be run again.
type rerun struct {
	d       *compare.Dumped
	dev     backend.Device
	prog    backend.Program
	k       backend.Kernel
	q       backend.Queue
	regions [][]byte
}

func load(d *compare.Dumped, regions [][]byte, ptx string) (*rerun, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	lim, err := compare.ParseLimits("launches=1000000000,threads=1000000000,seconds=3600,memory=16G")
	if err != nil {
		return nil, err
	}
	report := os.Getenv("KUDZU_COMPARE_REPORT")
	if report == "" {
		report = "/dev/stdout"
	}
	c := cache.FromEnv(os.Getenv)
	b := devices.Compare(compare.Config{Device: devices.CPU(devices.Config{Compiler: []string{self, "compiler"}, Cache: cache.Open(c)}), Limits: lim, Report: report})
	devs, err := b.Open()
	if err != nil {
		return nil, err
	}
	r := &rerun{d: d, dev: devs[0], regions: regions}
	for i := range regions {
		if err := r.dev.Memory().(backend.HostMemory).RegisterHost(backend.Addr(d.Regions[i][0]), d.Regions[i][1]); err != nil {
			return nil, err
		}
	}
	m, err := driver.Describe("dumped", ptx, 121)
	if err != nil {
		return nil, err
	}
	if r.prog, err = r.dev.Load(m); err != nil {
		return nil, err
	}
	if r.k, err = r.prog.Kernel(d.Line.Kernel); err != nil {
		return nil, err
	}
	r.q, err = r.dev.NewQueue(0)
	return r, err
}

// run writes the memory and the module's variables as they were, and launches.
func (r *rerun) run(memory []byte) error {
	for i, m := range r.regions {
		copy(m, memory)
		memory = memory[r.d.Regions[i][1]:]
	}
	for name, was := range r.d.Vars {
		a, n, err := r.prog.Var(name)
		if err != nil {
			continue // not in the kernel's own text
		}
		at, from := uintptr(a), uintptr(was)
		copy(unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n), unsafe.Slice(*(**byte)(unsafe.Pointer(&from)), n))
	}
	if err := r.q.Launch(r.k, &r.d.Launch); err != nil {
		return err
	}
	return r.q.Sync()
}
