package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/shim/nvml"
)

// smiName is the program that this one is under another name: dist/bin has a link.
const smiName = "nvidia-smi"

// The codes that nvidia-smi ends with.
const (
	smiInvalid = exitCode(2)   // an argument of an option
	smiNobody  = exitCode(6)   // no such device
	smiNoNVML  = exitCode(9)   // no driver
	smiUnknown = exitCode(255) // an option
)

// smiOptions is what the command line asks for.
type smiOptions struct {
	list, excluded, query, xml, unit bool
	help, version, dtd, strict       bool
	ids                              []string
	idOption                         string // as it was written
	display                          string
	selective                        string // the kind of a selective query: gpu, compute-apps, …
	fields, format                   string
	helpQuery                        string
	file                             string
	every                            time.Duration
	set                              []smiSetting
}

// smiValued are the options that take a value, with the name that parsing has for them.
var smiValued = map[string]string{
	"-i": "id", "--id": "id", "-d": "display", "--display": "display", "-f": "file", "--filename": "file", "--format": "format",
	"-lms": "ms", "--loop-ms": "ms", "-l": "s", "--loop": "s", "-m": "ignored", "--mode": "ignored", "-sc": "ignored", "--scope": "ignored",
}

// smiFlags are the options that do not.
func (o *smiOptions) flag(name string) bool {
	switch name {
	case "-L", "--list-gpus":
		o.list = true
	case "-B", "--list-excluded-gpus":
		o.excluded = true
	case "-q", "--query", "-a":
		o.query = true
	case "-x", "--xml-format":
		o.xml = true
	case "-u", "--unit":
		o.unit = true
	case "-h", "--help":
		o.help = true
	case "--version":
		o.version = true
	case "--dtd":
		o.dtd = true
	case "-eow", "--error-on-warning":
		o.strict = true
	default:
		return false
	}
	return true
}

// parseSMI reads the command line.
func parseSMI(args []string) (*smiOptions, error) {
	o := &smiOptions{}
	for len(args) > 0 {
		name, value, inline := strings.Cut(args[0], "=")
		whole := args[0]
		args = args[1:]
		if kind, ok := strings.CutPrefix(name, "--help-query-"); ok && smiQueries[kind] != nil {
			o.helpQuery = kind
			continue
		}
		if !inline && o.flag(name) {
			continue
		}
		kind, selective := strings.CutPrefix(name, "--query-")
		selective = selective && smiQueries[kind] != nil
		setter := smiSetter(name)
		if !selective && setter == nil && smiValued[name] == "" {
			return nil, smiError{smiUnknown, fmt.Sprintf("ERROR: Option %s is not recognized. Please run '%s -h'.\n", whole, smiName)}
		}
		if !inline && (setter == nil || setter.takes > 0) {
			optional := smiValued[name] == "s"
			switch {
			case len(args) > 0 && !(optional && strings.HasPrefix(args[0], "-")):
				value, args = args[0], args[1:]
			case !optional:
				return nil, smiError{smiInvalid, fmt.Sprintf("ERROR: Option %s requires an argument. Please run '%s -h'.\n", name, smiName)}
			}
		}
		switch {
		case selective:
			o.selective, o.fields = kind, value
		case setter != nil:
			values, err := setter.read(value)
			if err != nil {
				return nil, err
			}
			o.set = append(o.set, smiSetting{setter, values})
		default:
			if err := o.valued(smiValued[name], value, whole); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}

// valued takes an option with its value.
func (o *smiOptions) valued(name, value, written string) error {
	switch name {
	case "id":
		o.ids, o.idOption = strings.Split(value, ","), written
	case "display":
		o.display = value
	case "file":
		o.file = value
	case "format":
		o.format = value
	case "s", "ms":
		unit := time.Second
		if name == "ms" {
			unit = time.Millisecond
		}
		if value == "" {
			value = "5"
		}
		n, err := strconv.Atoi(value)
		if err != nil || n <= 0 {
			return smiError{smiInvalid, fmt.Sprintf("Invalid loop interval: %s", value)}
		}
		o.every = time.Duration(n) * unit
	}
	return nil
}

// smiError is a text for standard output, where nvidia-smi has its errors, and the code it ends with.
type smiError struct {
	code exitCode
	text string
}

func (e smiError) Error() string { return e.text }

// runSMI shows the devices and who uses them, as nvidia-smi does: what it tells is what NVML answers.
func runSMI(args []string, out io.Writer) error { return smiMain(args, out, forever) }

// forever waits for the next round of a loop.
func forever(every time.Duration) bool {
	time.Sleep(every)
	return true
}

func smiMain(args []string, out io.Writer, again func(time.Duration) bool) error {
	err := smiCommand(args, out, again)
	var e smiError
	if errors.As(err, &e) {
		fmt.Fprintln(out, e.text)
		return e.code
	}
	return err
}

func smiCommand(args []string, out io.Writer, again func(time.Duration) bool) error {
	if len(args) > 0 && smiVerbs[args[0]] != nil {
		return smiVerbs[args[0]](args[1:], out, again)
	}
	o, err := parseSMI(args)
	if err != nil {
		return err
	}
	show, err := o.mode()
	if err != nil {
		return err
	}
	return withCards(out, o.file, o.ids, func(out io.Writer, cards []card) error {
		for {
			if err := show(out, cards); err != nil || o.every == 0 || !again(o.every) {
				return err
			}
		}
	})
}

// withCards runs what shows devices, all or those that were asked for, into a file if one is named.
func withCards(out io.Writer, file string, ids []string, show func(io.Writer, []card) error) error {
	if file != "" {
		f, err := os.Create(file)
		if err != nil {
			return smiError{smiInvalid, fmt.Sprintf("Failed to open %s: %v", file, err)}
		}
		defer f.Close()
		out = f
	}
	cards, err := openCards()
	if err != nil {
		return err
	}
	if cards, err = chooseCards(cards, ids); err != nil {
		return err
	}
	return show(out, cards)
}

// mode is what is shown; what is wrong with the options is said before any device is asked.
func (o *smiOptions) mode() (func(io.Writer, []card) error, error) {
	switch {
	case o.help:
		return smiText(smiHelp), nil
	case o.helpQuery != "":
		return func(out io.Writer, _ []card) error { return smiHelpQuery(out, o.helpQuery) }, nil
	case o.version:
		return smiVersion, nil
	case (o.list || o.excluded) && o.ids != nil:
		return nil, smiError{smiInvalid, fmt.Sprintf("ERROR: Option %s is not valid for this command. Please run '%s -h' for help.\n", o.idOption, smiName)}
	case o.list:
		return smiList, nil
	case o.excluded:
		return smiText("No excluded devices found.\n"), nil
	case o.selective != "":
		q, err := parseQuery(o.selective, o.fields, o.format)
		if err != nil {
			return nil, err
		}
		return q.show, nil
	case o.dtd && !o.xml:
		return smiText(smiDTD(o.unit)), nil
	case o.query && o.unit && o.xml:
		return func(out io.Writer, _ []card) error { return smiUnitsXML(out, o.dtd) }, nil
	case o.query && o.unit:
		return smiUnits, nil
	case o.query || o.xml:
		sections, err := parseSections(o.display)
		if err != nil {
			return nil, err
		}
		if o.xml {
			return func(out io.Writer, cards []card) error { return smiXML(out, cards, o.dtd) }, nil
		}
		return func(out io.Writer, cards []card) error { return smiLog(out, cards, sections) }, nil
	case o.set != nil:
		return func(out io.Writer, cards []card) error { return smiSet(out, cards, o.set, o.strict) }, nil
	}
	return smiTable, nil
}

func smiText(text string) func(io.Writer, []card) error {
	return func(out io.Writer, _ []card) error {
		_, err := io.WriteString(out, text)
		return err
	}
}

func smiList(out io.Writer, cards []card) error {
	for _, c := range cards {
		fmt.Fprintf(out, "GPU %d: %s (UUID: %s)\n", c.dev, c.name(), c.uuid())
	}
	return nil
}

func smiVersion(out io.Writer, _ []card) error {
	v := nvml.DriverVersion()
	short := v
	if parts := strings.Split(v, "."); len(parts) > 2 {
		short = strings.Join(parts[:2], ".")
	}
	fmt.Fprintf(out, "NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\nCUDA Version        : %s\n", v, short, v, driver.VersionText(driver.Version()))
	return nil
}

// openCards starts NVML.
func openCards() ([]card, error) {
	driver.Start(devices.All(devices.Config{}))
	th := new(nvml.Thread)
	if err := th.Init(); err != nil {
		return nil, smiError{smiNoNVML, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"}
	}
	n, err := th.DeviceGetCount()
	if err != nil {
		return nil, err
	}
	var all []card
	for i := range n {
		h, err := th.DeviceGetHandleByIndex(i)
		if err != nil {
			return nil, err
		}
		all = append(all, card{th: th, h: h, dev: int32(i), count: int(n)})
	}
	return all, nil
}

// chooseCards are those that were asked for, by number, UUID or bus.
func chooseCards(all []card, ids []string) ([]card, error) {
	if ids == nil {
		return all, nil
	}
	var some []card
	for _, c := range all {
		if slices.ContainsFunc(ids, c.is) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		return nil, smiError{smiNobody, "No devices were found"}
	}
	return some, nil
}
