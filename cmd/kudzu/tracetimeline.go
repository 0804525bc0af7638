package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kudzu/internal/trace"
	"kudzu/internal/trace/timeline"
)

// runTraceTimeline writes a trace as a page for a browser, and as JSON for Perfetto and Chrome.
func runTraceTimeline(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("timeline", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	page := flags.String("o", "", "")
	perfetto := flags.String("perfetto", "", "")
	mangled := flags.Bool("mangled", false, "")
	if err := flags.Parse(args); err != nil {
		return errUsage{err.Error()}
	}
	if flags.NArg() != 1 {
		return errUsage{"timeline takes one trace"}
	}
	tr, err := trace.Open(flags.Arg(0))
	if err != nil {
		return err
	}
	defer tr.Close()
	tl, err := timeline.Build(tr, timeline.Options{Mangled: *mangled})
	if err != nil {
		return err
	}
	if *page == "" && *perfetto == "" {
		*page = strings.TrimSuffix(filepath.Base(filepath.Clean(flags.Arg(0))), trace.Ext) + ".html"
	}
	if err := writeTimeline(*page, tl.HTML); err != nil {
		return err
	}
	if err := writeTimeline(*perfetto, tl.Perfetto); err != nil {
		return err
	}
	n := tl.Len()
	for _, file := range []string{*page, *perfetto} {
		if file != "" && file != "-" {
			fmt.Fprintf(out, "%s: %d events\n", file, n)
		}
	}
	return nil
}

// writeTimeline writes a file, or standard output for "-". What could not be written whole is not left.
func writeTimeline(name string, write func(io.Writer) error) (err error) {
	switch name {
	case "":
		return nil
	case "-":
		return write(os.Stdout)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			os.Remove(name)
		}
	}()
	return write(f)
}
