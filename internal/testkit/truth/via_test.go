package truth

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/backend/cuda"
	"kudzu/internal/compile/worker"
	"kudzu/internal/lower"
	"kudzu/internal/ptx"
	"kudzu/internal/testkit"
)

var (
	viaDir = flag.String("via", "", "a folder of what our compiler made of the lines' modules for sm_90: TestTranslate writes it, TestVia runs it")
	shard  = flag.String("shard", "0/1", "of TestVia: this part of the lines, so that several processes share them")
)

// viaBatch lines share a module, so that the driver compiles a few hundred and not thousands.
const viaBatch = 8

// viaLines are the recorded lines in their batches.
func viaLines(t *testing.T) ([][]*Line, map[string][]byte) {
	t.Helper()
	lines, want := recorded(t)
	var out [][]*Line
	for len(lines) > 0 {
		n := min(viaBatch, len(lines))
		out = append(out, lines[:n])
		lines = lines[n:]
	}
	return out, want
}

// TestTranslate compiles every recorded line for sm_90 into the folder of -via.
func TestTranslate(t *testing.T) {
	if *viaDir == "" {
		t.Skip("-via is not given")
	}
	p, err := worker.New("")
	if err != nil {
		t.Skip(err)
	}
	failed := 0
	var translate func(lines []*Line)
	translate = func(lines []*Line) {
		err := testkit.Translate(p.Run, *viaDir, Header()+Batch("k", lines), target)
		if err == nil {
			return
		}
		if len(lines) == 1 {
			failed++
			t.Logf("%s: %v", lines[0].Text, err)
			return
		}
		translate(lines[:len(lines)/2])
		translate(lines[len(lines)/2:])
	}
	all, _ := viaLines(t)
	n := 0
	for _, lines := range all {
		translate(lines)
		n += len(lines)
	}
	t.Logf("%d of %d lines are translated", n-failed, n)
}

// TestVia compares what the translated lines compute on a real GPU with what the lines themselves did.
func TestVia(t *testing.T) {
	if *viaDir == "" {
		t.Skip("-via is not given")
	}
	devs, err := cuda.New(cuda.Config{Through: testkit.Folder(*viaDir)}).Open()
	if err != nil {
		t.Skipf("no real driver: %v", err)
	}
	var part, parts int
	if _, err := fmt.Sscanf(*shard, "%d/%d", &part, &parts); err != nil || parts < 1 {
		t.Fatalf("shard %q", *shard)
	}
	all, want := viaLines(t)
	r := &Runner{Device: devs[0], Host: testkit.NewHostPage(t, HostBytes), Module: func(s string) (*backend.Module, error) {
		return &backend.Module{Name: "truth", Text: s}, nil
	}}
	var count [2]struct{ lines, agree, rows, rowsAgree int }
	answers := make(chan verdict)
	go func() {
		for i, lines := range all {
			if i%parts == part {
				judge(r, lines, want, answers)
			}
		}
		close(answers)
	}()
	for v := range answers {
		c := &count[0]
		if keptLine(v.line) {
			c = &count[1]
		}
		c.lines++
		c.rows += Lanes
		c.rowsAgree += v.agree
		if v.problem == "" {
			c.agree++
		} else {
			fmt.Fprintf(os.Stdout, "DIFFERS\t%s\t%s\t%s\n", v.line.Chapter, v.line.Text, strings.ReplaceAll(v.problem, "\n", " "))
		}
	}
	for i, name := range []string{"through", "kept"} {
		c := count[i]
		fmt.Printf("COUNT\t%s\t%d\t%d\t%d\t%d\n", name, c.lines, c.agree, c.rows, c.rowsAgree)
	}
}

// keptLine reports a line whose instruction our compiler keeps as it is.
func keptLine(l *Line) bool {
	m, err := ptx.ParseModule(Header() + l.Kernel("k"))
	if err != nil {
		return false
	}
	body := m.Funcs[0].Body
	for i := range body.Insts {
		if body.Insts[i].Form == l.Form && lower.KeepNVPTX(&body.Insts[i]) {
			return true
		}
	}
	return false
}
