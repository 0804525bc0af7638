package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"kudzu/internal/trace"
)

// follower writes what a program does while it does it.
type follower struct {
	tail   *trace.Tail
	stream *trace.Stream // nil: nothing is written
	file   *os.File      // to be closed
	failed error
}

// pollEvery is how far text may be behind the program.
const pollEvery = 50 * time.Millisecond

// follower prepares what the options ask for: lines to standard error or to a file.
func (t *traceWith) follower() (*follower, error) {
	f := &follower{}
	if t.format == "binary" {
		return f, nil
	}
	var w io.Writer = os.Stderr
	if t.log != "" {
		file, err := os.Create(t.log)
		if err != nil {
			return nil, err
		}
		f.file, w = file, file
	}
	d := trace.NewDecoder(t.dir)
	d.Mangled = t.mangled
	f.tail, f.stream = trace.NewTail(t.dir), trace.NewStream(d, newLines(t.format, w, d))
	f.stream.Wants = t.filter.wants
	return f, nil
}

func newLines(format string, w io.Writer, d *trace.Decoder) trace.Lines {
	if format == "json" {
		return trace.NewJSON(w, d)
	}
	return trace.NewPrinter(w, d)
}

// follow writes until the program has ended, and gives what ended carries.
func (f *follower) follow(ended <-chan error) error {
	if f.stream == nil {
		return <-ended
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	defer f.tail.Close()
	for {
		select {
		case code := <-ended:
			f.poll(true)
			if f.file != nil {
				if err := f.file.Close(); err != nil && f.failed == nil {
					f.fail(err)
				}
			}
			return code
		case <-tick.C:
			f.poll(false)
		}
	}
}

// poll writes what is new. A trace that cannot be read is said once: the program goes on.
func (f *follower) poll(last bool) {
	if f.failed != nil {
		return
	}
	records, err := f.tail.Poll()
	if err == nil {
		err = f.stream.Add(records, last)
	}
	if err != nil {
		f.fail(err)
	}
}

func (f *follower) fail(err error) {
	f.failed = err
	fmt.Fprintf(os.Stderr, "kudzu: the trace is not followed any more: %v\n", err)
}
