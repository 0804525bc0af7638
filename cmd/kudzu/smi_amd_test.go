package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"kudzu/internal/testkit/hipdouble"
	"kudzu/internal/testkit/libdouble"
)

// TestSMIOnAMD: what ROCm SMI tells of a GPU is in nvidia-smi's table, queries, log and monitor. Doubles stand for both libraries.
func TestSMIOnAMD(t *testing.T) {
	monitor := libdouble.Build(t, "rsmi", "librocm_smi64.so.7", map[string]string{
		"rsmi_num_monitor_devices":   "*(uint32_t *)p_num_devices = 1;",
		"rsmi_dev_pci_id_get":        "*(uint64_t *)p_bdfid = 3 << 8;",
		"rsmi_dev_temp_metric_get":   "*(int64_t *)p_temperature = p_sensor_type == 2 ? 71000 : 55000;",
		"rsmi_dev_power_get":         "*(uint64_t *)p_power = 120000000;",
		"rsmi_dev_power_cap_get":     "*(uint64_t *)p_cap = 300000000;",
		"rsmi_dev_fan_speed_get":     "*(int64_t *)p_speed = 51;",
		"rsmi_dev_fan_speed_max_get": "*(uint64_t *)p_max_speed = 255;",
		"rsmi_dev_busy_percent_get":  "*(uint32_t *)p_busy_percent = 42;",
		"rsmi_dev_ecc_enabled_get":   "*(uint64_t *)p_enabled_blocks = 5;",
		"rsmi_dev_ecc_count_get":     "((uint64_t *)p_ec)[0] = 10 * p_block; ((uint64_t *)p_ec)[1] = p_block;",
		"rsmi_dev_pci_bandwidth_get": `struct { _Bool deep; uint32_t n, now; uint64_t hz[33]; uint32_t lanes[33]; } *f = p_bandwidth; memset(f, 0, sizeof *f);
    f->n = 2; f->now = 1; f->hz[0] = 2500000000; f->hz[1] = 16000000000; f->lanes[0] = f->lanes[1] = 16;`,
	})
	t.Setenv("KUDZU_BACKEND", "hip")
	t.Setenv("KUDZU_HIP_LIBRARY", hipdouble.Build(t))
	t.Setenv("KUDZU_ROCM_SMI_LIBRARY", monitor.Path)
	t.Setenv("KUDZU_DOUBLE_DEVICES", "gfx1100")
	for _, c := range []struct{ args, want string }{
		{"", `(?s).*\| +5 \|\n\| 20%   55C +P0 +120W /  300W \|.*42% +Default \|.*`}, // 5 errors: of memory and another part
		{"--query-gpu=pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.max,ecc.mode.current,ecc.errors.corrected.volatile.total,ecc.errors.uncorrected.volatile.dram,temperature.memory --format=csv,noheader", `4, 4, 16, Enabled, 50, 1, 71\n`},
		{"-q", `(?s).* Current +: 16x\n.*DRAM Correctable +: 10\n +DRAM Uncorrectable +: 1\n.*Memory Current Temp +: 71 C\n.*`},
		{"dmon -s pe -c 1", `(?s).*\n +0 +120 +55 +71 +50 +5 +\S+ \n`},
	} {
		var out bytes.Buffer
		if err := smiMain(strings.Fields(c.args), &out, func(time.Duration) bool { return false }); err != nil || !regexp.MustCompile("^"+c.want+"$").MatchString(out.String()) {
			t.Errorf("smi %s: %v\n%s\nwant %s", c.args, err, out.String(), c.want)
		}
	}
}
