package main

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"kudzu/internal/driver"
	"kudzu/internal/shim/nvml"
)

// smiLayout has the lines of -q and the elements of -x: label | element | value | sections, indented by depth.
//
//go:embed smi_log.txt
var smiLayout string

// logNode is one line of the log.
type logNode struct {
	depth      int
	label, tag string // "" where the other form alone has it
	value      string // the name of a field, a text behind =, or "" for a heading
	sections   []string
}

var logNodes = parseLayout(smiLayout)

func parseLayout(text string) []logNode {
	var all []logNode
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		body := strings.TrimLeft(line, " ")
		if body == "" || body[0] == '#' {
			continue
		}
		cols := strings.Split(body, "|")
		for i := range cols {
			cols[i] = strings.TrimSpace(cols[i])
		}
		n := logNode{depth: len(line) - len(body), label: cols[0], tag: cols[1]}
		if len(cols) > 2 {
			n.value = cols[2]
		}
		if len(cols) > 3 {
			n.sections = strings.Fields(cols[3])
		}
		if n.depth > 0 && n.sections == nil {
			n.sections = all[len(all)-1].sections // a part belongs where its whole does
		}
		all = append(all, n)
	}
	return all
}

// smiSections are what -d takes.
var smiSections = strings.Fields(`MEMORY UTILIZATION ECC TEMPERATURE POWER CLOCK COMPUTE PIDS PERFORMANCE SUPPORTED_CLOCKS PAGE_RETIREMENT
	ACCOUNTING ENCODER_STATS SUPPORTED_GPU_TARGET_TEMP VOLTAGE FBC_STATS ROW_REMAPPER GSP_FIRMWARE_VERSION POWER_SMOOTHING POWER_PROFILES`)

func parseSections(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	var all []string
	for s := range strings.SplitSeq(list, ",") {
		if s = strings.ToUpper(strings.TrimSpace(s)); !slices.Contains(smiSections, s) {
			return nil, smiError{smiInvalid, "Failed to parse --display/-d flags"}
		}
		all = append(all, s)
	}
	return all, nil
}

// in reports whether a line is shown: without a choice all but those of a section that must be asked for.
func (n logNode) in(chosen []string) bool {
	if chosen == nil {
		return !slices.Contains(n.sections, "ASKED")
	}
	return slices.ContainsFunc(n.sections, func(s string) bool { return slices.Contains(chosen, s) })
}

// of is a line's value of a device, with its unit.
func (n logNode) of(c card) string {
	if text, ok := strings.CutPrefix(n.value, "="); ok {
		return text
	}
	i := slices.IndexFunc(gpuFields, func(f field[card]) bool { return slices.Contains(f.names, n.value) })
	if i < 0 {
		panic("BUG: the log names a field that is not there: " + n.value)
	}
	f := gpuFields[i]
	v := f.get(c)
	if v != "" && f.unit != "" {
		v += " " + f.unit
	}
	return orNA(v)
}

// logLine prints a label and a value; colons stand in one column.
func logLine(out io.Writer, depth, column int, label, value string) {
	fmt.Fprintf(out, "%-*s: %s\n", column, strings.Repeat("    ", depth)+label, value)
}

const (
	logColumn     = 55
	processColumn = 42
)

func logStart(out io.Writer) {
	fmt.Fprint(out, "\n==============NVSMI LOG==============\n\n")
	logLine(out, 0, logColumn, "Timestamp", smiDate())
	logLine(out, 0, logColumn, "Driver Version", nvml.DriverVersion())
	logLine(out, 0, logColumn, "CUDA Version", driver.VersionText(driver.Version()))
	fmt.Fprintln(out)
}

// smiLog prints all that is known, or chosen sections.
func smiLog(out io.Writer, cards []card, sections []string) error {
	logStart(out)
	logLine(out, 0, logColumn, "Attached GPUs", fmt.Sprint(cards[0].count))
	for _, c := range cards {
		fmt.Fprintf(out, "GPU %s\n", c.bus())
		for _, n := range logNodes {
			switch {
			case n.label == "" || !n.in(sections):
			case n.value == "processes":
				logProcesses(out, c)
			case n.value == "":
				fmt.Fprintf(out, "%s%s\n", strings.Repeat("    ", n.depth+1), n.label)
			default:
				logLine(out, n.depth+1, logColumn, n.label, n.of(c))
			}
		}
		fmt.Fprintln(out)
	}
	return nil
}

func logProcesses(out io.Writer, c card) {
	users := c.users()
	if len(users) == 0 {
		logLine(out, 1, logColumn, "Processes", "None")
		return
	}
	fmt.Fprintln(out, "    Processes")
	for _, u := range users {
		logLine(out, 2, processColumn, "GPU instance ID", "N/A")
		logLine(out, 2, processColumn, "Compute instance ID", "N/A")
		logLine(out, 2, processColumn, "Process ID", fmt.Sprint(u.Pid))
		logLine(out, 3, processColumn, "Type", "C")
		logLine(out, 3, processColumn, "Name", processName(u.Pid))
		logLine(out, 3, processColumn, "Used GPU Memory", mib(u.Used)+" MiB")
	}
}

// smiUnits says that there are none.
func smiUnits(out io.Writer, _ []card) error {
	logStart(out)
	logLine(out, 0, logColumn, "HIC Info", "N/A")
	logLine(out, 0, logColumn, "Attached Units", "0")
	fmt.Fprintln(out)
	return nil
}

// escape is a text inside an element.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

func element(out io.Writer, depth int, tag, value string) {
	fmt.Fprintf(out, "%s<%s>%s</%s>\n", strings.Repeat("\t", depth), tag, escape(value), tag)
}

// xmlStart opens the document, with its DTD or that one's name, and has the elements before those of devices or units.
func xmlStart(out io.Writer, unit, dtd bool) {
	fmt.Fprint(out, "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log ")
	if dtd {
		fmt.Fprintf(out, "[\n%s]>\n", smiDTD(unit))
	} else {
		fmt.Fprintf(out, "SYSTEM \"%s\">\n", dtdName(unit))
	}
	fmt.Fprintln(out, "<nvidia_smi_log>")
	element(out, 1, "timestamp", smiDate())
	element(out, 1, "driver_version", nvml.DriverVersion())
	element(out, 1, "cuda_version", driver.VersionText(driver.Version()))
}

// smiUnitsXML is smiUnits for programs.
func smiUnitsXML(out io.Writer, dtd bool) error {
	xmlStart(out, true, dtd)
	element(out, 1, "hic_info", "N/A")
	element(out, 1, "attached_units", "0")
	_, err := fmt.Fprintln(out, "</nvidia_smi_log>")
	return err
}

// smiXML is the log for programs.
func smiXML(out io.Writer, cards []card, dtd bool) error {
	xmlStart(out, false, dtd)
	element(out, 1, "attached_gpus", fmt.Sprint(cards[0].count))
	for _, c := range cards {
		fmt.Fprintf(out, "\t<gpu id=\"%s\">\n", escape(c.bus()))
		xmlNodes(out, c)
		fmt.Fprint(out, "\t</gpu>\n\n")
	}
	fmt.Fprintln(out, "</nvidia_smi_log>")
	return nil
}

// xmlNodes writes the elements of a device; open are those that are not closed.
func xmlNodes(out io.Writer, c card) {
	var open []logNode
	closeTo := func(depth int) {
		for len(open) > 0 && open[len(open)-1].depth >= depth {
			last := open[len(open)-1]
			fmt.Fprintf(out, "%s</%s>\n", strings.Repeat("\t", last.depth+2), last.tag)
			open = open[:len(open)-1]
		}
	}
	for _, n := range logNodes {
		if n.tag == "" {
			continue
		}
		closeTo(n.depth)
		switch n.value {
		case "processes":
			xmlProcesses(out, c)
		case "":
			fmt.Fprintf(out, "%s<%s>\n", strings.Repeat("\t", n.depth+2), n.tag)
			open = append(open, n)
		default:
			element(out, n.depth+2, n.tag, n.of(c))
		}
	}
	closeTo(0)
}

// processElements are the elements of a process.
var processElements = []struct {
	tag string
	get func(nvml.User) string
}{
	{"gpu_instance_id", func(nvml.User) string { return "N/A" }}, {"compute_instance_id", func(nvml.User) string { return "N/A" }},
	{"pid", func(u nvml.User) string { return fmt.Sprint(u.Pid) }}, {"type", func(nvml.User) string { return "C" }},
	{"process_name", func(u nvml.User) string { return processName(u.Pid) }}, {"used_memory", func(u nvml.User) string { return mib(u.Used) + " MiB" }},
}

func xmlProcesses(out io.Writer, c card) {
	fmt.Fprintln(out, "\t\t<processes>")
	for _, u := range c.users() {
		fmt.Fprintln(out, "\t\t\t<process_info>")
		for _, e := range processElements {
			element(out, 4, e.tag, e.get(u))
		}
		fmt.Fprintln(out, "\t\t\t</process_info>")
	}
	fmt.Fprintln(out, "\t\t</processes>")
}
