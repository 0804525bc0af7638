package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/nvml"
	"kudzu/internal/spec/nv"
)

// smiVerb is a word that may stand in place of options.
type smiVerb func(args []string, out io.Writer, again func(time.Duration) bool) error

var smiVerbs = map[string]smiVerb{
	"dmon": smiDmon, "pmon": smiPmon, "topo": smiTopo, "drain": smiDrain, "compute-policy": smiPolicy, "conf-compute": smiConfidential,
	"clocks": smiSays(smiClocksHelp), "nvlink": smiSays(""), "mig": smiSays("No MIG-enabled devices found.\n"), "vgpu": smiSays("No supported devices in vGPU mode\n"),
}

// smiSays answers for what no device here has.
func smiSays(text string) smiVerb {
	return func(_ []string, out io.Writer, _ func(time.Duration) bool) error {
		_, err := io.WriteString(out, text)
		return err
	}
}

// verbOptions reads the options of a verb: letters of those that take a value, and of those that do not; long names have a letter.
func verbOptions(verb string, args []string, valued, flags string, long map[string]string) (map[string]string, error) {
	given := map[string]string{}
	for len(args) > 0 {
		option, value, inline := strings.Cut(args[0], "=")
		written := args[0]
		args = args[1:]
		if s, ok := long[option]; ok {
			option = s
		}
		switch letter := strings.TrimPrefix(option, "-"); {
		case len(letter) == 1 && len(option) == 2 && strings.Contains(valued, letter):
			if !inline {
				if len(args) == 0 {
					return nil, smiError{smiInvalid, fmt.Sprintf("ERROR: Option %s requires an argument. Please run '%s %s -h'.\n", option, smiName, verb)}
				}
				value, args = args[0], args[1:]
			}
			given[letter] = value
		case len(letter) == 1 && len(option) == 2 && !inline && strings.Contains(flags, letter):
			given[letter] = ""
		default:
			return nil, smiError{smiUnknown, fmt.Sprintf("ERROR: Option %s is not recognized. Please run '%s %s -h'.\n", written, smiName, verb)}
		}
	}
	return given, nil
}

// smiPolicy lists the compute policies: how contexts share a device is nobody's to choose.
func smiPolicy(args []string, out io.Writer, _ func(time.Duration) bool) error {
	given, err := verbOptions("compute-policy", args, "i", "lh", map[string]string{"--id": "-i", "--list": "-l", "--help": "-h"})
	if err != nil {
		return err
	}
	if _, ok := given["l"]; !ok {
		_, err := io.WriteString(out, smiPolicyHelp)
		return err
	}
	return withCards(out, "", idsOf(given), func(out io.Writer, cards []card) error {
		const rule = "+-------------------------------------+\n"
		fmt.Fprint(out, rule, "| GPU compute policies:               |\n| GPU     Name           Value        |\n|=====================================|\n")
		for _, c := range cards {
			fmt.Fprintf(out, "|%4d   %-16s%-14s|\n", c.dev, "Timeslice", "Default")
		}
		_, err := io.WriteString(out, rule)
		return err
	})
}

// idsOf are the devices that -i names, nil for all.
func idsOf(given map[string]string) []string {
	if v, ok := given["i"]; ok {
		return strings.Split(v, ",")
	}
	return nil
}

// smiConfidential says that confidential computing is off.
func smiConfidential(args []string, out io.Writer, _ func(time.Duration) bool) error {
	given, err := verbOptions("conf-compute", args, "", "fh", map[string]string{"--get-cc-feature": "-f", "--help": "-h"})
	if err != nil {
		return err
	}
	if _, ok := given["f"]; ok {
		_, err = io.WriteString(out, "CC status: OFF\n")
		return err
	}
	_, err = io.WriteString(out, smiConfidentialHelp)
	return err
}

// smiDrain asks whether a device is about to go, or would have it go.
func smiDrain(args []string, out io.Writer, _ func(time.Duration) bool) error {
	given, err := verbOptions("drain", args, "pm", "qrdh", map[string]string{"--pciid": "-p", "--modify": "-m", "--query": "-q", "--remove": "-r", "--display": "-d", "--help": "-h"})
	if err != nil {
		return err
	}
	bus, ok := given["p"]
	if !ok {
		_, err := io.WriteString(out, smiDrainHelp)
		return err
	}
	return withCards(out, "", []string{bus}, func(out io.Writer, cards []card) error {
		c := cards[0]
		var at nv.NvmlPciInfo_t
		place := hostmem.Of(&at)
		if err := c.th.DeviceGetPciInfo(c.h, place); err != nil {
			return err
		}
		if mode, ok := given["m"]; ok {
			values, err := (&setter{names: []string{"-m"}, takes: 1, words: offOn}).read(mode)
			if err != nil {
				return err
			}
			if err := c.th.DeviceModifyDrainState(place, nv.NvmlEnableState_t(values[0])); err != nil {
				return smiError{exitCode(nvml.Code(err)), fmt.Sprintf("Failed to set drain state for GPU %s: %s", c.bus(), refused(err))}
			}
			fmt.Fprintf(out, "Successfully set GPU %s drain state to: not draining.\n", c.bus())
		}
		if _, ok := given["q"]; ok {
			if _, err := c.th.DeviceQueryDrainState(place); err != nil {
				return err
			}
			fmt.Fprintf(out, "The current drain state of GPU %s is: not draining.\n", c.bus())
		}
		if _, ok := given["r"]; ok {
			err := c.th.DeviceRemoveGpuV1(place)
			return smiError{exitCode(nvml.Code(err)), fmt.Sprintf("Failed to remove GPU %s: %s", c.bus(), refused(err))}
		}
		return nil
	})
}

// refused is NVML's text for why.
func refused(err error) string {
	if nvml.Code(err) == int32(nv.NVML_ERROR_NO_PERMISSION) {
		return "Insufficient Permissions"
	}
	return "Not Supported"
}
