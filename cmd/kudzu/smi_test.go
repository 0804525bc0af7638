package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"kudzu/internal/shim/nvml"
)

// smi runs the program once, on two devices of 1 GiB at a fixed time.
func smi(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Setenv("KUDZU_BACKEND", "cpu")
	t.Setenv("KUDZU_DEVICES", "2")
	t.Setenv("KUDZU_MEMORY", "1G")
	t.Setenv("CUDA_VISIBLE_DEVICES", "0") // hides nothing here
	smiNow = func() time.Time { return time.Date(2026, 11, 16, 8, 48, 48, 7e6, time.UTC) }
	t.Cleanup(func() { smiNow = time.Now })
	var out bytes.Buffer
	rounds := 0
	err := smiMain(args, &out, func(time.Duration) bool { rounds++; return rounds < 2 })
	return out.String(), err
}

// TestSMI: all of the text, as a pattern; the forms are those of driver 580.
func TestSMI(t *testing.T) {
	v := regexp.QuoteMeta(nvml.DriverVersion())
	for _, c := range []struct{ args, want string }{
		{"-L", `GPU 0: .+ \(UUID: GPU-[0-9a-f-]{36}\)\nGPU 1: .+\n`},
		{"-B", "No excluded devices found.\n"},
		{"--version", `NVIDIA-SMI version  : ` + v + `\nNVML version        : \d+\.\d+\nDRIVER version      : ` + v + `\nCUDA Version        : 13\.4\n`},
		{"--query-gpu=index,memory.total --format=csv", "index, memory.total \\[MiB\\]\n0, 1024 MiB\n1, 1024 MiB\n"},
		{"--query-gpu=clocks.max.mem,gpu_bus_id,fan.speed", "clocks.max.memory \\[MHz\\], pci.bus_id, fan.speed \\[%\\]\n(2400 MHz, 0000[0-9A-F]{4}:[0-9A-F]{2}:[0-9A-F]{2}.0, \\[N/A\\]\n){2}"},
		{"--query-gpu=timestamp,count,clocks_event_reasons.active,mig.mode.current,ecc.mode.current -i 1 --format=csv,noheader", "2026/11/16 08:48:48.007, 2, 0x0{16}, Disabled, \\[N/A\\]\n"},
		{"--query-gpu=memory.total,driver_version --format=csv,noheader,nounits", "(1024, " + v + "\n){2}"},
		{"--query-compute-apps=pid,name,used_memory --format=csv", "pid, process_name, used_gpu_memory \\[MiB\\]\n(\\d+, .*, \\d+ MiB\n)*"},
		{"--query-accounted-apps=pid --format=csv", "pid\n"},
		{"--help-query-compute-apps", `(?s)List of valid properties .*:\n\n"timestamp"\n.*\n\n"used_gpu_memory" or "used_memory"\nIn MiB\.\n\n`},
		{"--help-query-gpu", `(?s)List of valid properties .*\n\n"hostname"\nNo device here tells it\.\n\n.*`},
		{"--query-gpu=display_mode,addressing_mode -i 0 --format=csv,noheader", `\[Requested functionality has been deprecated\], ATS\n`},
		{"-h", `(?s)nvidia-smi of Kudzu.*`},
		{"-i 0 -l 1 --query-gpu=index --format=csv,noheader", "0\n0\n"}, // two rounds of a loop
		{"topo -m", "(?s)\t\x1b\\[4mGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b\\[0m\nGPU0\t X \tPIX\t[0-9,-]+\t.*\nGPU1\tPIX\t X \t.*\nLegend:\n.*"},
		{"-pm 1 -i 0", `Persistence mode is already Enabled for GPU \S+\.\nAll done\.\n`},
		{"-c 0 -i 0", `Compute mode is already set to DEFAULT for GPU \S+\.\nAll done\.\n`},
		{"-q -u", `(?s)\n=+NVSMI LOG=+\n\nTimestamp {46}: Mon Nov 16 08:48:48 2026\n.*Attached Units {41}: 0\n\n`},
		{"dmon -c 1 -i 0", "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk \n" +
			"# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz \n    0 .{76} \n"},
		{"dmon -s pucm -c 1 -o DT -i 0", "#Date        Time         gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk     fb   bar1   ccpm \n" +
			"#YYYYMMDD    HH:MM:SS     Idx      W      C      C      %      %      %      %      %      %    MHz    MHz     MB     MB     MB \n" +
			" 20261116    08:48:48       0 .{97} \n"},
		{"dmon -s m -c 2 --format=csv,nounit", "# gpu, fb, bar1, ccpm\n(0, \\d+, \\d+, 0\n1, \\d+, \\d+, 0\n){2}"},
		{"pmon -c 1 -o T -s um -i 0", "#Time         gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command \n" +
			"#HH:MM:SS     Idx           #    C/G      %      %      %      %      %      %     MB     MB    name \n" +
			"( 08:48:48       0 .*\n)+"},
		{"mig -lgi", "No MIG-enabled devices found.\n"}, {"vgpu", "No supported devices in vGPU mode\n"}, {"nvlink -s", ""}, {"conf-compute -f", "CC status: OFF\n"},
		{"compute-policy -l", regexp.QuoteMeta(`+-------------------------------------+
| GPU compute policies:               |
| GPU     Name           Value        |
|=====================================|
|   0   Timeslice       Default       |
|   1   Timeslice       Default       |
+-------------------------------------+
`)},
		{"clocks", `(?s).*Usage: nvidia-smi clocks\n.*`}, {"drain", `(?s).*Usage: nvidia-smi drain .*`}, {"compute-policy", `(?s).*Usage: nvidia-smi compute-policy .*`},
		{"drain -p 0000:01:00.0 -q", `The current drain state of GPU \S+ is: not draining\.\n`},
		{"--dtd -u", `(?s)<!-- nvsmi_unit_v\d+\.dtd -->\n<!ELEMENT nvidia_smi_log \(timestamp, .*<!ELEMENT attached_units \(#PCDATA\)>\n`},
	} {
		got, err := smi(t, strings.Fields(c.args)...)
		if err != nil || !regexp.MustCompile("^"+c.want+"$").MatchString(got) {
			t.Errorf("smi %s: %v\n%s\nwant %s", c.args, err, got, c.want)
		}
	}
}

// TestSMIErrors: texts and codes are nvidia-smi's.
func TestSMIErrors(t *testing.T) {
	for _, c := range []struct {
		args, want string
		code       exitCode
	}{
		{"--bogus", "ERROR: Option --bogus is not recognized. Please run 'nvidia-smi -h'.\n\n", 255},
		{"stats", "ERROR: Option stats is not recognized. Please run 'nvidia-smi -h'.\n\n", 255},
		{"--query-gpu=bogus --format=csv", "Field \"bogus\" is not a valid field to query.\n\n", 2},
		{"--query-gpu=.minor --format=csv", "Field \".minor\" is not a valid field to query.\n\n", 2},
		{"--query-gpu=name --format=xml", "Format modifier is not recognized.\n", 2},
		{"-i 7", "No devices were found\n", 6},
		{"-i 7 -L", "ERROR: Option -i is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n", 2},
		{"--list-gpus --id=0", "ERROR: Option --id=0 is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n", 2},
		{"-q -d BOGUS", "Failed to parse --display/-d flags\n", 2},
	} {
		got, err := smi(t, strings.Fields(c.args)...)
		var code exitCode
		if !errors.As(err, &code) || code != c.code || got != c.want {
			t.Errorf("smi %s: %v\n%q\nwant %q", c.args, err, got, c.want)
		}
	}
}

// TestSMITable: lines are 91 columns wide, and say what 580's do.
func TestSMITable(t *testing.T) {
	got, err := smi(t)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	if lines[0] != "Mon Nov 16 08:48:48 2026       " {
		t.Errorf("the first line is %q", lines[0])
	}
	for _, line := range lines[1:] {
		if n := len([]rune(line)); n != 0 && n != 91 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	for _, want := range []string{
		`\| NVIDIA-SMI \S+ +Driver Version: \S+ +CUDA Version: 13.4     \|`, `\|   0  .{27}    On  \|   0000\S+ Off \|                  N/A \|`,
		`\| N/A +\S+    P0 .* / +\S+ \| +\d+MiB /   1024MiB \| +\d+%      Default \|`, `\|  GPU   GI   CI              PID   Type   Process name                        GPU Memory \|`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no line %s in\n%s", want, got)
		}
	}
}

// TestSMILog: sections, columns, and an XML that reads.
func TestSMILog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if got, err := smi(t, "-q", "-i", "0", "-d", "MEMORY,COMPUTE", "-f", file); err != nil || got != "" {
		t.Fatalf("%v, %s", err, got)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(b), "Attached GPUs")
	want := `^ {42}: 2
GPU \S+
    FB Memory Usage
        Total                                          : 1024 MiB
        Reserved                                       : 0 MiB
        Used                                           : \d+ MiB
        Free                                           : \d+ MiB
    BAR1 Memory Usage
        Total                                          : 1024 MiB
        Used                                           : \d+ MiB
        Free                                           : \d+ MiB
    Conf Compute Protected Memory Usage
        Total                                          : 0 MiB
        Used                                           : 0 MiB
        Free                                           : 0 MiB
    Compute Mode                                       : Default

$`
	if !regexp.MustCompile(want).MatchString(body) {
		t.Errorf("the log is\n%s", body)
	}
	whole, err := smi(t, "-q")
	if err != nil || strings.Contains(whole, "Samples") || strings.Count(whole, "\n    Product Name ") != 2 {
		t.Errorf("%v\n%s", err, whole)
	}
	text, err := smi(t, "-x", "-q")
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		GPU []struct {
			ID     string `xml:"id,attr"`
			Memory string `xml:"fb_memory_usage>total"`
			Last   string `xml:"capabilities>egm"`
		} `xml:"gpu"`
	}
	if err := xml.NewDecoder(strings.NewReader(text)).Decode(&log); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	if len(log.GPU) != 2 || log.GPU[1].Memory != "1024 MiB" || log.GPU[1].Last != "disabled" || log.GPU[0].ID == "" {
		t.Errorf("the XML has %+v", log)
	}
}

// TestRanges: as the system writes sets of processors.
func TestRanges(t *testing.T) {
	for want, in := range map[string][]int{"0-3,8": {0, 1, 2, 3, 8}, "": nil, "5": {5}} {
		if got := ranges(in); got != want {
			t.Errorf("%v: %q", in, got)
		}
	}
}
