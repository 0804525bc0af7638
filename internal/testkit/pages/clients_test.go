package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClientsPages: scripts/apps/page.py writes notes of rows without the folders of the machine that they were measured on.
func TestClientsPages(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	script, err := filepath.Abs(root + "scripts/apps/page.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const end = "<!-- end of rows -->\n"
	put("docs/apps/README.md", "<!-- rows: scripts/apps/clients.sh page -->\n"+end+"<!-- suites: scripts/apps/clients.sh suites page -->\n| a |\n|---|\n"+end)
	put("docs/apps/zclients.md", "")
	put("docs/apps/zsuites.md", "")
	const row = `{"client": "c", "version": "1", "source": "PyPI", "capability": "8.9", "case": "k", "launches": 1, "status": "failed", "note": "no '/srv/farm/x/a.cu' -I/srv/inc/b.h: see https://host.org/c/d.html, /dev/nvidia0"`
	put("rows/a.rows", row+"}\n"+row+`, "suite": true}`+"\n")
	cmd := exec.Command(python, script, "rows")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput() // it fails, because a row has
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"README.md", "zclients.md", "zsuites.md"} {
		text, err := os.ReadFile(filepath.Join(dir, "docs/apps", name))
		if err != nil {
			t.Fatal(err)
		}
		// The page breaks lines at words.
		if s := strings.Join(strings.Fields(string(text)), " "); !strings.Contains(s, "no 'a.cu' -Ib.h: see https://host.org/c/d.html, /dev/nvidia0") {
			t.Errorf("%s: %s%s", name, text, out)
		}
	}
}
