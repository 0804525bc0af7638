package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"kudzu/internal/roster"
	"kudzu/internal/shim/nvml"
	"kudzu/internal/spec/nv"
)

// card is one device as NVML has it.
type card struct {
	th    *nvml.Thread
	h     nv.NvmlDevice_t
	dev   int32
	count int // of all devices
}

// known is a text, "" where it is not known.
func known(s string, err error) string {
	if err != nil {
		return ""
	}
	return s
}

// digits is a number, "" where it is not known.
func digits[T uint32 | uint64 | int32](v T, err error) string {
	return known(fmt.Sprint(v), err)
}

// orNA is what a table has for what is not known.
func orNA(s string) string {
	if s == "" {
		return "N/A"
	}
	return s
}

func mib(n uint64) string { return fmt.Sprint(n >> 20) }

func (c card) name() string { return known(c.th.Name(c.dev)) }
func (c card) uuid() string { return known(c.th.UUID(c.dev)) }

func (c card) bus() string {
	at, err := c.th.Bus(c.dev)
	return known(nvml.BusText(at), err)
}

func (c card) place(i int, format string) string {
	at, err := c.th.Bus(c.dev)
	return known(fmt.Sprintf(format, at[i]), err)
}

// is reports whether a text of the command line means this device.
func (c card) is(id string) bool {
	return id == fmt.Sprint(c.dev) || id == c.uuid() || strings.EqualFold(id, c.bus()) || strings.EqualFold("0000"+id, c.bus())
}

// memory is a part of total, used and free, in MiB.
func (c card) memory(part func(total, used uint64) uint64) string {
	total, used, err := c.th.Memory(c.h)
	return known(mib(part(total, used)), err)
}

func (c card) total() string {
	return c.memory(func(total, _ uint64) uint64 { return total })
}

func (c card) used() string {
	return c.memory(func(_, used uint64) uint64 { return used })
}

func (c card) free() string {
	return c.memory(func(total, used uint64) uint64 { return total - used })
}

func (c card) busy() string {
	gpu, _, err := c.th.Busy(c.h)
	return digits(gpu, err)
}

func (c card) memoryBusy() string {
	_, memory, err := c.th.Busy(c.h)
	return digits(memory, err)
}

func (c card) temperature() string {
	return digits(c.th.DeviceGetTemperature(c.h, nv.NVML_TEMPERATURE_GPU))
}

func (c card) memoryTemperature() string { return digits(c.th.MemoryTemperature(c.h)) }

// lanes is a width of the bus as -q writes it.
func lanes(n uint32, err error) string { return known(fmt.Sprintf("%dx", n), err) }

// ecc is whether memory corrects errors.
func (c card) ecc() string {
	now, _, err := c.th.DeviceGetEccMode(c.h)
	return state(now, err)
}

// errors is how many errors of a kind there were since the driver was loaded.
func (c card) errors(kind nv.NvmlMemoryErrorType_t) string {
	return digits(c.th.DeviceGetTotalEccErrors(c.h, kind, nv.NVML_VOLATILE_ECC))
}

// watts is a number of milliwatts as nvidia-smi writes it.
func watts(milliwatts uint32, err error) string {
	return known(fmt.Sprintf("%d.%02d", milliwatts/1000, milliwatts%1000/10), err)
}

func (c card) power() string { return watts(c.th.DeviceGetPowerUsage(c.h)) }
func (c card) limit() string { return watts(c.th.DeviceGetPowerManagementLimit(c.h)) }

func (c card) limits(i int) string {
	least, most, err := c.th.DeviceGetPowerManagementLimitConstraints(c.h)
	return watts([]uint32{least, most}[i], err)
}

func (c card) clock(kind nv.NvmlClockType_t) string {
	return digits(c.th.DeviceGetClockInfo(c.h, kind))
}

func (c card) maxClock(kind nv.NvmlClockType_t) string {
	return digits(c.th.DeviceGetMaxClockInfo(c.h, kind))
}

// state is Enabled or Disabled.
func state(s nv.NvmlEnableState_t, err error) string {
	if s == nv.NVML_FEATURE_ENABLED {
		return known("Enabled", err)
	}
	return known("Disabled", err)
}

func (c card) mig() string {
	now, _, err := c.th.DeviceGetMigMode(c.h)
	return state(nv.NvmlEnableState_t(now), err)
}

func (c card) computeMode() string {
	mode, err := c.th.DeviceGetComputeMode(c.h)
	modes := map[nv.NvmlComputeMode_t]string{nv.NVML_COMPUTEMODE_DEFAULT: "Default", nv.NVML_COMPUTEMODE_PROHIBITED: "Prohibited", nv.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: "Exclusive_Process"}
	return known(modes[mode], err)
}

func (c card) pstate() string {
	p, err := c.th.DeviceGetPerformanceState(c.h)
	return known(fmt.Sprintf("P%d", p), err)
}

// reason is whether a bit of the reasons for a lower clock is set.
func (c card) reason(bit int) string {
	set, err := c.th.DeviceGetCurrentClocksEventReasons(c.h)
	if set>>bit&1 != 0 {
		return known("Active", err)
	}
	return known("Not Active", err)
}

func (c card) capability() string {
	major, minor, err := c.th.DeviceGetCudaComputeCapability(c.h)
	return known(fmt.Sprintf("%d.%d", major, minor), err)
}

func (c card) architecture() string {
	names := map[uint32]string{4: "Pascal", 5: "Volta", 6: "Turing", 7: "Ampere", 8: "Ada Lovelace", 9: "Hopper", 10: "Blackwell"}
	a, err := c.th.DeviceGetArchitecture(c.h)
	return known(names[a], err)
}

// addressing is how a device reaches memory that the host allocated.
func (c card) addressing() string {
	how, err := c.th.Addressing(c.h)
	return known([]string{"None", "HMM", "ATS"}[how], err)
}

// users are the processes on a device.
func (c card) users() []nvml.User {
	all, err := c.th.Users(c.dev)
	if err != nil {
		return nil
	}
	return all
}

// processName is what a process was started as, without anything that would move a cursor.
func processName(pid uint32) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, roster.Name(int(pid)))
}

// command is the last part of it.
func command(pid uint32) string {
	if name := processName(pid); name != "" {
		return filepath.Base(name)
	}
	return "-"
}
