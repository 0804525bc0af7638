package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/spec/nv"
)

// column is one number of dmon or pmon: its letter in -s, heading and unit. A value that is not known is a dash.
type column[T any] struct {
	letter      byte
	title, unit string
	get         func(T) string
}

func unknown[T any](T) string { return "" }

// deviceColumns are dmon's, in the order in which they are shown.
var deviceColumns = []column[card]{
	{'p', "pwr", "W", func(c card) string { return whole(c.power()) }}, {'p', "gtemp", "C", card.temperature}, {'p', "mtemp", "C", card.memoryTemperature},
	{'u', "sm", "%", card.busy}, {'u', "mem", "%", card.memoryBusy}, {'u', "enc", "%", zero}, {'u', "dec", "%", zero}, {'u', "jpg", "%", zero}, {'u', "ofa", "%", zero},
	{'c', "mclk", "MHz", func(c card) string { return c.clock(nv.NVML_CLOCK_MEM) }}, {'c', "pclk", "MHz", func(c card) string { return c.clock(nv.NVML_CLOCK_SM) }},
	{'v', "pviol", "%", zero}, {'v', "tviol", "bool", zero},
	{'m', "fb", "MB", card.used}, {'m', "bar1", "MB", card.used}, {'m', "ccpm", "MB", zero},
	{'e', "sbecc", "errs", func(c card) string { return c.errors(nv.NVML_MEMORY_ERROR_TYPE_CORRECTED) }},
	{'e', "dbecc", "errs", func(c card) string { return c.errors(nv.NVML_MEMORY_ERROR_TYPE_UNCORRECTED) }},
	{'e', "pci", "errs", func(c card) string { return digits(c.th.DeviceGetPcieReplayCounter(c.h)) }},
	{'t', "rxpci", "MB/s", unknown[card]}, {'t', "txpci", "MB/s", unknown[card]},
}

// share is an app with its part of the device's time; -1 is not known.
type share struct {
	app
	percent int
}

// processColumns are pmon's.
var processColumns = []column[share]{
	{'u', "sm", "%", func(s share) string {
		if s.percent < 0 {
			return ""
		}
		return fmt.Sprint(s.percent)
	}},
	{'u', "mem", "%", func(s share) string { return "0" }}, {'u', "enc", "%", unknown[share]}, {'u', "dec", "%", unknown[share]}, {'u', "jpg", "%", unknown[share]}, {'u', "ofa", "%", unknown[share]},
	{'m', "fb", "MB", func(s share) string { return mib(s.Used) }}, {'m', "ccpm", "MB", func(share) string { return "0" }},
}

// monitor is what dmon and pmon have in common: options, and when to show the next lines.
type monitor struct {
	name       string
	ids        []string
	every      time.Duration
	count      int // 0: for ever
	selected   string
	date, time bool
	header     bool
	units      bool
	comma      bool
	file       string
	help       bool
}

// parseMonitor reads the options; letters are what -s may name.
func parseMonitor(name, selected, letters string, args []string) (*monitor, error) {
	m := &monitor{name: name, every: time.Second, selected: selected, header: true, units: true}
	long := map[string]string{"--id": "-i", "--delay": "-d", "--count": "-c", "--select": "-s", "--options": "-o", "--filename": "-f", "--help": "-h"}
	for len(args) > 0 {
		option, value, inline := strings.Cut(args[0], "=")
		written := args[0]
		args = args[1:]
		if s, ok := long[option]; ok {
			option = s
		}
		if option == "-h" {
			m.help = true
			continue
		}
		if !strings.Contains("-i -d -c -s -o -f --format", option) || len(option) < 2 {
			return nil, smiError{smiUnknown, fmt.Sprintf("ERROR: Option %s is not recognized. Please run '%s %s -h'.\n", written, smiName, name)}
		}
		if !inline {
			if len(args) == 0 {
				return nil, smiError{smiInvalid, fmt.Sprintf("ERROR: Option %s requires an argument. Please run '%s %s -h'.\n", option, smiName, name)}
			}
			value, args = args[0], args[1:]
		}
		if !m.option(option, value, letters) {
			return nil, smiError{smiInvalid, fmt.Sprintf("Invalid argument %s for option %s. Please run '%s %s -h'.", value, option, smiName, name)}
		}
	}
	return m, nil
}

// option takes one; false if the value is wrong.
func (m *monitor) option(option, value, letters string) bool {
	switch option {
	case "-i":
		m.ids = strings.Split(value, ",")
	case "-f":
		m.file = value
	case "-d", "-c":
		n, err := strconv.Atoi(value)
		if err != nil || n <= 0 {
			return false
		}
		if option == "-d" {
			m.every = time.Duration(n) * time.Second
		} else {
			m.count = n
		}
	case "-s":
		m.selected = value
		return value != "" && strings.Trim(value, letters) == ""
	case "-o":
		m.date, m.time = strings.Contains(value, "D"), strings.Contains(value, "T")
		return strings.Trim(value, "DT") == ""
	case "--format":
		for f := range strings.SplitSeq(value, ",") {
			switch f {
			case "csv":
				m.comma = true
			case "nounit":
				m.units = false
			case "noheader":
				m.header = false
			default:
				return false
			}
		}
	}
	return true
}

// front is what stands before a line: date and time, or the marks of a heading. The first begins with mark.
func (m *monitor) front(mark, date, clock string) string {
	s := ""
	if m.date {
		s = fmt.Sprintf("%-13s", mark+date)
		mark = ""
	}
	if m.time {
		s += fmt.Sprintf("%-*s", 11+len(mark), mark+clock)
	}
	return s
}

// run shows lines as often as was asked for.
func (m *monitor) run(out io.Writer, again func(time.Duration) bool, heading func(out io.Writer), lines func(out io.Writer, cards []card)) error {
	return withCards(out, m.file, m.ids, func(out io.Writer, cards []card) error {
		heading(out)
		for i := 0; ; {
			lines(out, cards)
			if i++; i == m.count || !again(m.every) {
				return nil
			}
		}
	})
}

// columnsOf are the columns that -s names.
func columnsOf[T any](all []column[T], letters string) []column[T] {
	var some []column[T]
	for _, c := range all {
		if strings.IndexByte(letters, c.letter) >= 0 {
			some = append(some, c)
		}
	}
	return some
}

// headings are the two lines of headings: titles and units, and before them what the device's number is called.
func headings[T any](m *monitor, columns []column[T]) (titles, units []string) {
	titles, units = []string{"# gpu"}, []string{"# Idx"}
	if m.date || m.time {
		titles, units = []string{"gpu"}, []string{"Idx"} // the mark is before the date
	}
	for _, c := range columns {
		titles, units = append(titles, c.title), append(units, c.unit)
	}
	return titles, units
}

// dash is what a column has for what is not known.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// cells are the columns of a line, the first of which is the device's number.
func (m *monitor) cells(cells []string) string {
	if m.comma {
		return strings.Join(cells, ", ")
	}
	s := fmt.Sprintf("%5s ", cells[0])
	for _, c := range cells[1:] {
		s += fmt.Sprintf("%6s ", c)
	}
	return s
}

// smiDmon shows numbers of devices, a line a device and round.
func smiDmon(args []string, out io.Writer, again func(time.Duration) bool) error {
	m, err := parseMonitor("dmon", "puc", "pucvmet", args)
	if err != nil {
		return err
	}
	if m.help {
		_, err := io.WriteString(out, smiDmonHelp)
		return err
	}
	columns := columnsOf(deviceColumns, m.selected)
	heading := func(out io.Writer) {
		titles, units := headings(m, columns)
		if m.header {
			fmt.Fprintf(out, "%s%s\n", m.front("#", "Date", "Time"), m.cells(titles))
		}
		if m.header && m.units {
			fmt.Fprintf(out, "%s%s\n", m.front("#", "YYYYMMDD", "HH:MM:SS"), m.cells(units))
		}
	}
	return m.run(out, again, heading, func(out io.Writer, cards []card) {
		for _, c := range cards {
			values := []string{fmt.Sprint(c.dev)}
			for _, col := range columns {
				values = append(values, dash(col.get(c)))
			}
			now := smiNow()
			fmt.Fprintf(out, "%s%s\n", m.front(" ", now.Format("20060102"), now.Format("15:04:05")), m.cells(values))
		}
	})
}

// smiPmon shows numbers of processes.
func smiPmon(args []string, out io.Writer, again func(time.Duration) bool) error {
	m, err := parseMonitor("pmon", "u", "um", args)
	if err != nil {
		return err
	}
	if m.help {
		_, err := io.WriteString(out, smiPmonHelp)
		return err
	}
	columns := columnsOf(processColumns, m.selected)
	heading := func(out io.Writer) {
		titles, units := headings(m, columns)
		fmt.Fprintf(out, "%s%5s%12s%7s%s    command \n", m.front("#", "Date", "Time"), titles[0], "pid", "type", wide(titles[1:]))
		fmt.Fprintf(out, "%s%5s%12s%7s%s    name \n", m.front("#", "YYYYMMDD", "HH:MM:SS"), units[0], "#", "C/G", wide(units[1:]))
	}
	return m.run(out, again, heading, func(out io.Writer, cards []card) {
		for _, c := range cards {
			m.processes(out, c, columns)
		}
	})
}

// wide is pmon's columns.
func wide(cells []string) string {
	s := ""
	for _, c := range cells {
		s += fmt.Sprintf("%7s", c)
	}
	return s
}

// processes shows those of a device, or one line of dashes.
func (m *monitor) processes(out io.Writer, c card, columns []column[share]) {
	now := smiNow()
	front := m.front(" ", now.Format("20060102"), now.Format("15:04:05"))
	each, _, err := c.th.Shares(c.h)
	all := apps([]card{c})
	if len(all) == 0 {
		fmt.Fprintf(out, "%s%5d%11s%6s%s    %-15s\n", front, c.dev, "-", "-", strings.Repeat("      -", len(columns)), "-")
	}
	for _, a := range all {
		s := share{a, -1}
		if err == nil {
			s.percent = each[int(a.Pid)]
		}
		var values []string
		for _, col := range columns {
			values = append(values, dash(col.get(s)))
		}
		fmt.Fprintf(out, "%s%5d%11d%6s%s    %-15s\n", front, c.dev, a.Pid, "C", wide(values), cut(command(a.Pid), 15))
	}
}
