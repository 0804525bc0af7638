package texels

import (
	"flag"
	"os"
	"testing"
)

var jobsFile = flag.String("jobs", "", "write the jobs to this file, for record.c")

// TestJobs: names are unique (they seed the generators), and the file for the recorder can be written.
func TestJobs(t *testing.T) {
	jobs := Jobs()
	seen := map[string]bool{}
	for _, j := range jobs {
		if seen[j.Name] {
			t.Errorf("two jobs are called %q", j.Name)
		}
		seen[j.Name] = true
		if len(j.Data) != j.Bytes() {
			t.Errorf("%s: %d bytes of texels, want %d", j.Name, len(j.Data), j.Bytes())
		}
	}
	b := Write(jobs)
	out := 0
	kept := 0
	for _, j := range jobs {
		n := 8 + 4*j.Out*j.Threads()
		if j.Surface {
			n += len(j.Data)
		}
		out += n
		if !j.Probe {
			kept += n
		}
	}
	t.Logf("%d jobs, %d bytes, %d bytes of results, %d kept", len(jobs), len(b), out, kept)
	if *jobsFile != "" {
		if err := os.WriteFile(*jobsFile, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
