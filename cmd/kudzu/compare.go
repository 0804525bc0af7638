package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"kudzu/internal/backend/compare"
	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/dump"
	"kudzu/internal/replay"
)

// compareArgs is what the options of kudzu compare ask for.
type compareArgs struct {
	with, backend, load, dir, tolerance, libraries string
	limits                                         []string
	keepCode                                       bool
}

func parseCompare(args []string) (a *compareArgs, rest []string, err error) {
	a = &compareArgs{with: "interp", dir: "compare"}
	rest, err = programOptions(args, func(name string) bool {
		a.keepCode = a.keepCode || name == "--keep-code"
		return name == "--keep-code"
	}, func(name, val string) error {
		switch name {
		case "--with":
			if !slices.Contains(replay.Names, val) {
				return errUsage{fmt.Sprintf("no backend %q; there are %s", val, strings.Join(replay.Names, ", "))}
			}
			a.with = val
		case "--backend":
			a.backend = val
		case "--load":
			a.load = val
		case "--kernel":
			if _, err := regexp.Compile(val); err != nil || strings.Contains(val, ",") {
				return errUsage{"--kernel is a regular expression without commas"}
			}
			a.limits = append(a.limits, "only="+val)
		case "--every", "--launches", "--threads", "--seconds", "--memory":
			a.limits = append(a.limits, name[2:]+"="+val)
		case "--libraries":
			a.libraries = val
		case "--tolerance":
			a.tolerance = val
		case "-o", "--output":
			a.dir = val
		default:
			return errUsage{"unknown option " + name}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(a.limits) > 0 {
		if _, err := compare.ParseLimits(strings.Join(a.limits, ",")); err != nil {
			return nil, nil, errUsage{err.Error()}
		}
	}
	return a, rest, nil
}

// runCompare runs a program and has its launches compared.
func runCompare(args []string, out io.Writer) error {
	a, args, err := parseCompare(args)
	if err != nil {
		return err
	}
	if a.tolerance != "" {
		f, err := os.Open(a.tolerance)
		if err != nil {
			return err
		}
		_, err = dump.ReadTolerances(f)
		_ = f.Close() // it was only read
		if err != nil {
			return fmt.Errorf("%s: %w", a.tolerance, err)
		}
		if a.tolerance, err = filepath.Abs(a.tolerance); err != nil {
			return err
		}
	}
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	report := filepath.Join(dir, "report.jsonl")
	if err := os.WriteFile(report, nil, 0o644); err != nil {
		return err
	}
	limits := "1"
	if len(a.limits) > 0 {
		limits = strings.Join(a.limits, ",")
	}
	set := [][2]string{{config.Compare, limits}, {config.CompareReport, report}, {config.CompareDump, dir}, {config.CompareBounds, a.tolerance}, {config.CompareLibraries, a.libraries}}
	if a.backend != "" {
		set = append(set, [2]string{config.Backend, a.backend})
	}
	on := a.backend
	if on == "" {
		on = config.Get(config.Backend)
	}
	if a.with != "interp" || on != "" && on != "cpu" {
		s, err := serve(a.with)
		if err != nil {
			return err
		}
		defer s.close()
		set = append(set, [2]string{config.CompareWith, s.path})
	}
	counts, err := countsFile()
	if err != nil {
		return err
	}
	defer os.Remove(counts.Name())
	defer counts.Close()
	code, err := runChild(args, a.load, append(set, [2]string{config.Stats, counts.Name()}))
	if err != nil {
		return err
	}
	if stats, err := readStats(counts, 0); err != nil {
		return err
	} else if n := stats.Launches + stats.InterpretedLaunches; n > 0 { // none where the program ran on another backend
		compare.NewReporter(report).Add(&compare.Line{Outcome: compare.Ran, Launches: n})
	}
	different, err := summarise(report, a.with, os.Stderr)
	switch {
	case err != nil:
		return err
	case different && !a.keepCode:
		return exitCode(1)
	}
	return code.orNil()
}

// server replays launches that the program captures, each in a process of its own: what one leaves is not there for the next.
type server struct {
	dir, path string
	with      string
	l         net.Listener
	all       sync.WaitGroup
}

func serve(with string) (*server, error) {
	dir, err := os.MkdirTemp("", "kudzu-compare-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, path: filepath.Join(dir, "socket"), with: with}
	if s.l, err = net.Listen("unix", s.path); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		for {
			c, err := s.l.Accept()
			if err != nil {
				return
			}
			s.all.Add(1)
			go func() {
				defer s.all.Done()
				defer c.Close()
				s.answer(c)
			}()
		}
	}()
	return s, nil
}

func (s *server) close() {
	_ = s.l.Close() // nobody asks any more
	s.all.Wait()
	_ = os.RemoveAll(s.dir) // what is left is in a folder for such
}

func (s *server) answer(c net.Conn) {
	var req devices.ReplayRequest
	line, err := bufio.NewReader(c).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &req)
	}
	a := devices.Replayed{}
	if err == nil && filepath.Dir(req.File) != s.dir {
		err = fmt.Errorf("%s is not in %s", req.File, s.dir)
	}
	if err == nil {
		a, err = s.replay(&req)
	}
	if err != nil {
		a = devices.Replayed{Error: err.Error()}
	}
	b, err := json.Marshal(&a)
	if err == nil {
		_, _ = c.Write(append(b, '\n')) // a program that is gone hears nothing
	}
}

func (s *server) replay(req *devices.ReplayRequest) (a devices.Replayed, err error) {
	self, err := os.Executable()
	if err != nil {
		return a, err
	}
	var out, errs bytes.Buffer
	c := exec.Command(self, "replay", "--answer", "--backend", s.with, "--save", req.File, req.File)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		return a, err
	}
	late := time.AfterFunc(time.Duration(req.Seconds*float64(time.Second)), func() { _ = c.Process.Kill() })
	err = c.Wait()
	if !late.Stop() {
		return devices.Replayed{Late: true}, nil
	}
	if err != nil {
		return a, fmt.Errorf("%w: %.300s", err, bytes.TrimSpace(errs.Bytes()))
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) // what kernels print comes before
	if err := json.Unmarshal(lines[len(lines)-1], &a); err != nil {
		return a, fmt.Errorf("answer %.80q: %w", out.Bytes(), err)
	}
	return a, nil
}

// summarise tells what a report has, and about each launch that was saved where it differs.
func summarise(report, with string, out io.Writer) (different bool, err error) {
	sum, err := compare.Summarise(report)
	if err != nil {
		return false, err
	}
	sum.Tell(out, with)
	for _, l := range sum.Different() {
		if l.Dump == "" {
			continue
		}
		f, err := dump.Open(l.Dump, dump.DefaultLimit())
		if err != nil {
			return true, err
		}
		fmt.Fprintf(out, "    %s\n", l.Dump)
		if f.Fault != "" || len(l.Where) == 0 {
			continue
		}
		list := differences(f, l)
		if err := replay.Explain(f, list, replay.Options{}, time.Minute); err != nil {
			fmt.Fprintf(out, "    (where it is stored is not known: %v)\n", err)
		}
		for i := range list {
			fmt.Fprintf(out, "    %s\n", &list[i])
		}
	}
	return len(sum.Different()) > 0, nil
}

// differences are those that a line has, as places of its dump.
func differences(f *dump.File, l *compare.Line) []replay.Difference {
	var list []replay.Difference
	for _, w := range l.Where {
		for _, p := range w.Places {
			if d, ok := replay.At(f, p.Address, p.Device, p.Reference); ok {
				d.Words = w.Words
				list = append(list, d)
			}
		}
	}
	return list
}
