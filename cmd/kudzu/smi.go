package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/roster"
	"kudzu/internal/shim/nvml"
)

// card is one device as smi shows it.
type card struct {
	backend.Info
	index       int
	used        uint64
	utilisation int
}

func (c card) uuid() string {
	b := c.UUID
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (c card) bus() string { return fmt.Sprintf("%08X:%02X:%02X.0", c.PCI[0], c.PCI[1], c.PCI[2]) }

func mib(n uint64) uint64 { return n >> 20 }

// runSMI shows the devices and who uses them, as nvidia-smi would. It starts nothing: what it tells comes from the roster.
func runSMI(args []string, out io.Writer) error {
	query, format, list := "", "", false
	for _, a := range args {
		switch name, value, _ := strings.Cut(a, "="); name {
		case "-L", "--list-gpus":
			list = true
		case "--query-gpu":
			query = value
		case "--format":
			format = value
		default:
			return errUsage{fmt.Sprintf("smi does not know %q", a)}
		}
	}
	if (query == "") != (format == "") {
		return errUsage{"--query-gpu and --format=csv go together"}
	}
	cards, users, err := look(query != "" && !strings.Contains(query, "utilization") || list)
	if err != nil {
		return err
	}
	switch {
	case list:
		for _, c := range cards {
			fmt.Fprintf(out, "GPU %d: %s (UUID: %s)\n", c.index, c.Name, c.uuid())
		}
		return nil
	case query != "":
		return smiQuery(out, cards, query, format)
	}
	smiTable(out, cards, users)
	return nil
}

// look gathers devices and processes. Quick leaves out how busy they are, which takes a tenth of a second.
func look(quick bool) ([]card, []roster.Process, error) {
	b, ok := devices.CPU(devices.Config{}).(interface {
		Infos() ([]backend.Info, error)
	})
	if !ok {
		return nil, nil, fmt.Errorf("the cpu backend does not describe itself")
	}
	infos, err := b.Infos()
	if err != nil {
		return nil, nil, err
	}
	users, err := roster.List()
	if err != nil {
		return nil, nil, err
	}
	busy := 0
	if !quick {
		busy = new(roster.Sampler).Percent()
	}
	var cards []card
	for i, in := range infos {
		c := card{Info: in, index: i, utilisation: busy}
		for _, u := range users {
			c.used += u.Used[i]
		}
		cards = append(cards, c)
	}
	return cards, users, nil
}

// smiFields are what --query-gpu knows: a value, and its unit.
var smiFields = map[string]func(c card) (string, string){
	"index":              func(c card) (string, string) { return fmt.Sprint(c.index), "" },
	"name":               func(c card) (string, string) { return c.Name, "" },
	"gpu_name":           func(c card) (string, string) { return c.Name, "" },
	"uuid":               func(c card) (string, string) { return c.uuid(), "" },
	"gpu_uuid":           func(c card) (string, string) { return c.uuid(), "" },
	"driver_version":     func(c card) (string, string) { return nvml.DriverVersion(), "" },
	"count":              nil, // filled in where the number is known
	"compute_cap":        func(c card) (string, string) { return fmt.Sprintf("%d.%d", c.Major, c.Minor), "" },
	"pci.bus_id":         func(c card) (string, string) { return c.bus(), "" },
	"memory.total":       func(c card) (string, string) { return fmt.Sprint(mib(c.Memory)), "MiB" },
	"memory.used":        func(c card) (string, string) { return fmt.Sprint(mib(c.used)), "MiB" },
	"memory.free":        func(c card) (string, string) { return fmt.Sprint(mib(c.Memory - min(c.used, c.Memory))), "MiB" },
	"utilization.gpu":    func(c card) (string, string) { return fmt.Sprint(c.utilisation), "%" },
	"utilization.memory": unsupportedField, "power.draw": unsupportedField, "power.limit": unsupportedField, "fan.speed": unsupportedField,
	"temperature.gpu": func(c card) (string, string) {
		if d, ok := roster.Temperature(); ok {
			return fmt.Sprint(d), ""
		}
		return unsupportedField(c)
	},
}

func unsupportedField(card) (string, string) { return "[N/A]", "" }

// smiQuery prints chosen fields as comma-separated values.
func smiQuery(out io.Writer, cards []card, query, format string) error {
	header, units, csv := true, true, false
	for _, f := range strings.Split(format, ",") {
		switch strings.TrimSpace(f) {
		case "csv":
			csv = true
		case "noheader":
			header = false
		case "nounits":
			units = false
		default:
			return errUsage{fmt.Sprintf("--format does not know %q", f)}
		}
	}
	if !csv {
		return errUsage{"--format must say csv"}
	}
	var fields, titles []string
	for _, f := range strings.Split(query, ",") {
		f = strings.TrimSpace(f)
		get, ok := smiFields[f]
		if !ok {
			return errUsage{fmt.Sprintf("--query-gpu does not know %q", f)}
		}
		title := f
		if get != nil && units {
			if _, unit := get(card{}); unit != "" {
				title += " [" + unit + "]"
			}
		}
		fields, titles = append(fields, f), append(titles, title)
	}
	if header {
		fmt.Fprintln(out, strings.Join(titles, ", "))
	}
	for _, c := range cards {
		var row []string
		for _, f := range fields {
			if smiFields[f] == nil {
				row = append(row, fmt.Sprint(len(cards)))
				continue
			}
			v, unit := smiFields[f](c)
			if unit != "" && units {
				v += " " + unit
			}
			row = append(row, v)
		}
		fmt.Fprintln(out, strings.Join(row, ", "))
	}
	return nil
}

const smiWidth = 89

func smiLine(out io.Writer, s string) { fmt.Fprintf(out, "| %-*s |\n", smiWidth-2, s) }

func smiRule(out io.Writer, with string) {
	fmt.Fprintf(out, "+%s+\n", strings.Repeat(with, smiWidth))
}

// smiTable prints what people expect: versions, a row a device, and the processes.
func smiTable(out io.Writer, cards []card, users []roster.Process) {
	smiRule(out, "-")
	smiLine(out, fmt.Sprintf("Kudzu-SMI %-18s Driver Version: %-14s CUDA Version: %s", Version, nvml.DriverVersion(), driver.VersionText(driver.Version())))
	smiRule(out, "-")
	smiLine(out, fmt.Sprintf("%-3s  %-36s %-17s %-16s %s", "GPU", "Name", "Bus-Id", "Memory-Usage", "GPU-Util"))
	smiRule(out, "=")
	temp := "N/A"
	if d, ok := roster.Temperature(); ok {
		temp = fmt.Sprintf("%dC", d)
	}
	for _, c := range cards {
		name := c.Name
		if len(name) > 36 {
			name = name[:33] + "..."
		}
		smiLine(out, fmt.Sprintf("%3d  %-36s %-17s %16s %7d%%", c.index, name, c.bus(), "", c.utilisation))
		smiLine(out, fmt.Sprintf("     %-36s %-17s %16s %8s", fmt.Sprintf("Temp %s  Fan N/A  Pwr N/A", temp), fmt.Sprintf("sm_%d%d", c.Major, c.Minor), fmt.Sprintf("%dMiB / %dMiB", mib(c.used), mib(c.Memory)), "Default"))
		smiRule(out, "-")
	}
	fmt.Fprintln(out)
	smiRule(out, "-")
	smiLine(out, "Processes:")
	smiLine(out, fmt.Sprintf("%-5s %10s  %-4s  %-44s %16s", "GPU", "PID", "Type", "Process name", "Memory"))
	smiRule(out, "=")
	shown := false
	for _, c := range cards {
		for _, u := range users {
			if u.Used[c.index] == 0 && c.index > 0 {
				continue
			}
			name := roster.Name(u.Pid)
			if len(name) > 44 {
				name = "..." + string(filepath.Separator) + filepath.Base(name)
			}
			if len(name) > 44 {
				name = name[:44]
			}
			smiLine(out, fmt.Sprintf("%5d %10d  %-4s  %-44s %13dMiB", c.index, u.Pid, "C", printable(name), mib(u.Used[c.index])))
			shown = true
		}
	}
	if !shown {
		smiLine(out, "No running processes found")
	}
	smiRule(out, "-")
}

// printable keeps a name from moving the cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
