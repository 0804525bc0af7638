package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kudzu/internal/cudacc"
)

// TestDeferred: the list of functions to look at again is out of our precompiled header, and what is no header is left alone.
func TestDeferred(t *testing.T) {
	f := frontEnd(t)
	p, err := f.place()
	if err != nil {
		t.Fatal(err)
	}
	o, _, err := cudacc.Parse(cudacc.Release12, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.clang(&clangJob{timeout: time.Minute}, o.PCHArgs(p, "-"))
	if err != nil || out.code != 0 {
		t.Fatal(err, out)
	}
	if pch := []byte(out.stdout); !withoutDeferred(pch) || withoutDeferred(pch) {
		t.Error("the list is not there, or still there")
	}
	path, err := f.prelude(o, p, nil, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || withoutDeferred(b) {
		t.Errorf("the list is in the header that programs include, %v", err)
	}
	for n := range 200 {
		withoutDeferred([]byte(out.stdout[:n]))
		withoutDeferred([]byte(out.stdout[len(out.stdout)-n:]))
		withoutDeferred([]byte(out.stdout[:len(out.stdout)*n/200]))
	}
}

// TestInstantiated: a program without a line reads next to nothing of the prelude: its templates are instantiated in it.
func TestInstantiated(t *testing.T) {
	f := frontEnd(t)
	p, err := f.place()
	if err != nil {
		t.Fatal(err)
	}
	o, _, err := cudacc.Parse(cudacc.Release13, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.PCH, err = f.prelude(o, p, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Work, cudacc.SourceFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := f.clang(&clangJob{timeout: time.Minute}, append(o.Args(p, "empty.cu", depsFile), "-print-stats"))
	if err != nil {
		t.Fatal(err)
	}
	_, stats, _ := strings.Cut(out.stderr, "AST File Statistics")
	var read, all int
	for line := range strings.Lines(stats) {
		if strings.Contains(line, "statements read") {
			_, err = fmt.Sscanf(strings.TrimSpace(line), "%d/%d", &read, &all)
			break
		}
	}
	if err != nil || all == 0 || read > all/100 {
		t.Errorf("%d of %d statements are read, %v", read, all, err)
	}
}
