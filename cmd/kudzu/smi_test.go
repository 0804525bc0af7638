package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func smi(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := runSMI(args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSMI(t *testing.T) {
	t.Setenv("KUDZU_DEVICES", "2")
	t.Setenv("KUDZU_MEMORY", "1G")
	for _, c := range []struct {
		args []string
		want string // a pattern for all of it
	}{
		{[]string{"-L"}, `^GPU 0: .+ \(UUID: GPU-[0-9a-f-]{36}\)\nGPU 1: .+\n$`},
		{[]string{"--query-gpu=index,memory.total", "--format=csv"}, `^index, memory.total \[MiB\]\n0, 1024 MiB\n1, 1024 MiB\n$`},
		{[]string{"--query-gpu=memory.total,driver_version,count,power.draw", "--format=csv,noheader,nounits"}, `^(1024, 615\.[0-9.]+, 2, \[N/A\]\n){2}$`},
		{nil, `(?s)^\+-+\+\n\| Kudzu-SMI .*Driver Version: 615.*CUDA Version: 13\.4.*/ 1024MiB.*Processes:.*\+-+\+\n$`},
	} {
		if got := smi(t, c.args...); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("smi %v:\n%s\nwant %s", c.args, got, c.want)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(smi(t)), "\n") {
		if n := len([]rune(line)); n != 0 && n != smiWidth+2 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	for _, bad := range [][]string{{"--query-gpu=name"}, {"--query-gpu=nonsense", "--format=csv"}, {"--query-gpu=name", "--format=xml"}, {"what"}} {
		if err := runSMI(bad, &bytes.Buffer{}); err == nil {
			t.Errorf("smi %v is accepted", bad)
		}
	}
}
