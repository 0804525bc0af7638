package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/ptx"
)

// modulesFile holds whole modules with the vendor assembler's verdict: "=== +" accepted, "=== -" refused, "=== ~" (then its word)
// where we knowingly differ. With KUDZU_PTXAS set, TestModules writes the verdicts anew.
const modulesFile = "../../../testdata/isa/modules.txt"

type wholeModule struct {
	verdict string
	text    string
}

func readModules(t *testing.T) []wholeModule {
	t.Helper()
	data, err := os.ReadFile(modulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []wholeModule
	for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
		verdict, text, _ := strings.Cut(part, "\n")
		all = append(all, wholeModule{verdict, text})
	}
	return all
}

func TestModules(t *testing.T) {
	all := readModules(t)
	if tool := os.Getenv("KUDZU_PTXAS"); tool != "" {
		recordModules(t, tool, all)
	}
	known := 0
	for _, m := range all {
		_, err := Text(m.text)
		verdict := "+"
		if err != nil {
			verdict = "-"
			if _, ok := err.(ptx.ErrorList); !ok {
				t.Errorf("%T is no list of errors", err)
			}
		}
		switch want := strings.TrimPrefix(m.verdict, "~"); {
		case want == verdict && m.verdict != want:
			t.Errorf("no longer differs: %s", m.text)
		case want != verdict && m.verdict == want:
			t.Errorf("%s by the assembler, %s by us: %v\n%s", want, verdict, err, m.text)
		case want != verdict:
			known++
		}
	}
	t.Logf("%d modules, %d known to differ", len(all), known)
	if known*20 > len(all) {
		t.Errorf("too many differ")
	}
}

func recordModules(t *testing.T, tool string, all []wholeModule) {
	t.Helper()
	var b strings.Builder
	for i := range all {
		file := filepath.Join(t.TempDir(), "m.ptx")
		if err := os.WriteFile(file, []byte(all[i].text), 0o600); err != nil {
			t.Fatal(err)
		}
		arch := "compute_100a"
		for _, a := range []string{"sm_100f", "sm_90a", "sm_107a"} {
			if strings.Contains(all[i].text, a) {
				arch = strings.Replace(a, "sm_", "compute_", 1)
			}
		}
		verdict := "+"
		if err := exec.Command(tool, "-arch", arch, file, "-o", os.DevNull).Run(); err != nil {
			verdict = "-"
		}
		if strings.HasPrefix(all[i].verdict, "~") {
			verdict = "~" + verdict
		}
		all[i].verdict = verdict
		b.WriteString("=== " + verdict + "\n" + strings.TrimSuffix(all[i].text, "\n") + "\n")
	}
	if err := os.WriteFile(modulesFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
