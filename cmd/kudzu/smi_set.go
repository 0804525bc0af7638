package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/shim/nvml"
	"kudzu/internal/spec/nv"
)

// setter is an option that would change devices. No device here can be changed, so what there is to say is that it is as asked
// for already, that the user may not, or that the device does not support it.
type setter struct {
	names   []string
	takes   int      // how many numbers, with commas between them; one may stand for two
	words   []string // that may be written for the numbers 0, 1, …
	what    string   // it is called in a sentence
	set     func(c card, values []uint32) error
	already string // as what it stays; "" if it has no value to stay at
	stays   uint32
	refusal string // instead of "Unable to set … for GPU %s: Not Supported"
	denial  string // instead of "…: Insufficient Permissions"
}

// smiSetting is one of them with its values.
type smiSetting struct {
	*setter
	values []uint32
}

var (
	offOn        = []string{"DISABLED", "ENABLED"}
	computeModes = []string{"DEFAULT", "EXCLUSIVE_THREAD", "PROHIBITED", "EXCLUSIVE_PROCESS"}
)

// noClocks is what is said to users that may not change clocks.
const noClocks = "The current user does not have permission to change clocks for GPU %s."

// absent is a setting that NVML has no device for.
func absent(c card, _ []uint32) error { return c.th.Absent(c.h) }

var smiSetters = []setter{
	{names: []string{"-pm", "--persistence-mode"}, takes: 1, words: offOn, what: "persistence mode", already: "Persistence mode is already Enabled", stays: 1,
		set: func(c card, v []uint32) error { return c.th.DeviceSetPersistenceMode(c.h, nv.NvmlEnableState_t(v[0])) }},
	{names: []string{"-c", "--compute-mode"}, takes: 1, words: computeModes, what: "compute mode", already: "Compute mode is already set to DEFAULT",
		set: func(c card, v []uint32) error { return c.th.DeviceSetComputeMode(c.h, nv.NvmlComputeMode_t(v[0])) }},
	{names: []string{"-am", "--accounting-mode"}, takes: 1, words: offOn, what: "accounting mode", already: "Accounting Mode is already Disabled",
		set: func(c card, v []uint32) error { return c.th.DeviceSetAccountingMode(c.h, nv.NvmlEnableState_t(v[0])) }},
	{names: []string{"-mig", "--multi-instance-gpu"}, takes: 1, words: offOn, what: "MIG mode", already: "MIG Mode is already Disabled",
		set: func(c card, v []uint32) error {
			_, err := c.th.DeviceSetMigMode(c.h, v[0])
			return err
		}},
	{names: []string{"-e", "--ecc-config"}, takes: 1, words: offOn, what: "ECC mode",
		set: func(c card, v []uint32) error { return c.th.DeviceSetEccMode(c.h, nv.NvmlEnableState_t(v[0])) }},
	{names: []string{"-p", "--reset-ecc-errors"}, takes: 1, words: []string{"VOLATILE", "AGGREGATE"}, refusal: "Unable to reset ECC errors for GPU %s: Not Supported", denial: "Unable to reset ECC errors for GPU %s: Insufficient Permissions",
		set: func(c card, v []uint32) error {
			return c.th.DeviceClearEccErrorCounts(c.h, nv.NvmlEccCounterType_t(v[0]))
		}},
	{names: []string{"-lgc", "--lock-gpu-clocks"}, takes: 2, refusal: "Setting locked GPU clocks is not supported for GPU %s.", denial: noClocks,
		set: func(c card, v []uint32) error { return c.th.DeviceSetGpuLockedClocks(c.h, v[0], v[1]) }},
	{names: []string{"-rgc", "--reset-gpu-clocks"}, denial: noClocks, set: func(c card, _ []uint32) error { return c.th.DeviceResetGpuLockedClocks(c.h) }},
	{names: []string{"-lmc", "--lock-memory-clocks"}, takes: 2, refusal: "Setting locked Memory clocks is not supported for GPU %s.", denial: noClocks,
		set: func(c card, v []uint32) error { return c.th.DeviceSetMemoryLockedClocks(c.h, v[0], v[1]) }},
	{names: []string{"-rmc", "--reset-memory-clocks"}, denial: noClocks, set: func(c card, _ []uint32) error { return c.th.DeviceResetMemoryLockedClocks(c.h) }},
	{names: []string{"-lmcd", "--lock-memory-clocks-deferred"}, takes: 1, what: "deferred memory clocks", set: absent},
	{names: []string{"-rmcd", "--reset-memory-clocks-deferred"}, what: "deferred memory clocks", set: absent},
	{names: []string{"-ac", "--applications-clocks"}, takes: 2, refusal: "Setting applications clocks is not supported for GPU %s.", denial: noClocks,
		set: func(c card, v []uint32) error { return c.th.DeviceSetApplicationsClocks(c.h, v[0], v[1]) }},
	{names: []string{"-rac", "--reset-applications-clocks"}, denial: noClocks, set: func(c card, _ []uint32) error { return c.th.DeviceResetApplicationsClocks(c.h) }},
	{names: []string{"-pl", "--power-limit"}, takes: 1, refusal: "Changing power management limit is not supported for GPU: %s.", denial: "Failed to set power management limit for GPU %s: Insufficient Permissions",
		set: func(c card, v []uint32) error { return c.th.DeviceSetPowerManagementLimit(c.h, 1000*v[0]) }},
	{names: []string{"-caa", "--clear-accounted-apps"}, what: "accounted PIDs", set: func(c card, _ []uint32) error { return c.th.DeviceClearAccountingPids(c.h) }},
	{names: []string{"--gom"}, takes: 1, words: []string{"ALL_ON", "COMPUTE", "LOW_DP"}, what: "GPU operation mode", set: absent},
	{names: []string{"-vm", "--virt-mode"}, takes: 1, what: "virtualization mode", set: absent},
	{names: []string{"-cc", "--cuda-clocks"}, takes: 1, words: []string{"RESTORE_DEFAULT", "OVERRIDE"}, what: "CUDA clocks", set: absent},
	{names: []string{"--auto-boost-default"}, takes: 1, words: offOn, what: "default auto boost", set: absent},
	{names: []string{"--auto-boost-permission"}, takes: 1, words: []string{"UNRESTRICTED", "RESTRICTED"}, what: "auto boost permission", set: absent},
	{names: []string{"-gtt", "--gpu-target-temp"}, takes: 1, what: "GPU target temperature", set: absent},
	{names: []string{"-den", "--dram-encryption"}, takes: 1, words: offOn, what: "DRAM encryption mode", set: absent},
	{names: []string{"-r", "--gpu-reset"}, refusal: "Resetting GPU %s is not supported.", set: absent},
	{names: []string{"--get-hostname"}, refusal: "Unable to get hostname for GPU %s: Not Supported", set: absent},
}

// smiSetter finds one by its option.
func smiSetter(option string) *setter {
	i := slices.IndexFunc(smiSetters, func(s setter) bool { return slices.Contains(s.names, option) })
	if i < 0 {
		return nil
	}
	return &smiSetters[i]
}

// read takes numbers, or the words for them.
func (s *setter) read(value string) ([]uint32, error) {
	if s.takes == 0 {
		return nil, nil
	}
	parts := strings.Split(value, ",")
	var values []uint32
	for _, p := range parts {
		n := slices.Index(s.words, strings.ToUpper(p))
		if n < 0 {
			f, err := strconv.ParseFloat(p, 32) // limits may have a point
			if err != nil || f < 0 || s.words != nil && int(f) >= len(s.words) {
				return nil, smiError{smiInvalid, fmt.Sprintf("Invalid argument %s for option %s", value, s.names[0])}
			}
			n = int(f)
		}
		values = append(values, uint32(n))
	}
	if s.takes == 2 && len(values) == 1 {
		values = append(values, values[0])
	}
	if len(values) != s.takes {
		return nil, smiError{smiInvalid, fmt.Sprintf("Invalid argument %s for option %s", value, s.names[0])}
	}
	return values, nil
}

// says is a sentence about a device, or the usual one.
func (s *setter) says(sentence, usual, bus string) string {
	if sentence == "" {
		sentence = "Unable to set " + s.what + " for GPU %s: " + usual
	}
	return fmt.Sprintf(sentence, bus)
}

// smiSet asks NVML to change devices, and says what became of it. What is not supported is no error unless strict.
func smiSet(out io.Writer, cards []card, settings []smiSetting, strict bool) error {
	warned := false
	for _, s := range settings {
		for _, c := range cards {
			if s.already != "" && s.values[0] == s.stays { // nobody needs rights for that
				fmt.Fprintf(out, "%s for GPU %s.\n", s.already, c.bus())
				continue
			}
			switch err := s.set(c, s.values); {
			case err == nil:
			case nvml.Code(err) == int32(nv.NVML_ERROR_NO_PERMISSION):
				fmt.Fprintln(out, s.says(s.denial, "Insufficient Permissions", c.bus()))
				return smiError{exitCode(nv.NVML_ERROR_NO_PERMISSION), "Terminating early due to previous errors."}
			default:
				fmt.Fprintf(out, "%s\nTreating as warning and moving on.\n", s.says(s.refusal, "Not Supported", c.bus()))
				warned = true
			}
		}
	}
	fmt.Fprintln(out, "All done.")
	if warned && strict {
		return exitCode(nv.NVML_ERROR_NOT_SUPPORTED)
	}
	return nil
}
