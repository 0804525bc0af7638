package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kudzu/internal/shim/nvml"
)

// field is a property that can be asked for: its names, the first of which is shown, its unit, and the value; "" is not known.
type field[T any] struct {
	names []string
	unit  string
	get   func(T) string
	never bool // no device here has a value
}

// app is a process on a device.
type app struct {
	card
	nvml.User
}

// smiQuery is a selective query: chosen fields, and how they are written.
type smiQuery struct {
	titles        []string
	header, units bool
	rows          func(cards []card, units bool) [][]string
}

// smiKind is a kind of selective query.
type smiKind interface {
	names() [][]string
	about(name string) string
	choose(q *smiQuery, fields []string) error
}

// kind is the fields of one query, and what it has a row for.
type kind[T any] struct {
	fields []field[T]
	items  func(cards []card) []T
}

// smiQueries are the kinds by the names that options have for them. Of accounted processes, retired pages, remapped rows and chosen
// clocks there are none.
var smiQueries = map[string]smiKind{
	"gpu":              kind[card]{gpuFields, func(cards []card) []card { return cards }},
	"compute-apps":     kind[app]{append(ofCard(appOwn), appFields...), apps},
	"accounted-apps":   noneOf("vgpu_instance", "pid", "gpu_utilization|gpu_util [%]", "mem_utilization|mem_util [%]", "max_memory_usage [MiB]", "time [ms]"),
	"supported-clocks": noneOf("memory|mem [MHz]", "graphics|gr [MHz]"),
	"retired-pages":    noneOf("retired_pages.address", "retired_pages.cause"),
	"remapped-rows":    noneOf("remapped_rows.correctable", "remapped_rows.uncorrectable", "remapped_rows.pending", "remapped_rows.failure"),
}

// appOwn are the fields that processes have of their device.
var appOwn = []string{"timestamp", "gpu_name|name", "gpu_bus_id|pci.bus_id", "gpu_serial|serial", "gpu_uuid|uuid"}

// ofCard are fields of a device under the names that queries about processes have.
func ofCard(names []string) []field[app] {
	var all []field[app]
	for _, n := range names {
		shown, gpu, renamed := strings.Cut(n, "|")
		if !renamed {
			gpu = shown
		}
		i := slices.IndexFunc(gpuFields, func(f field[card]) bool { return slices.Contains(f.names, gpu) })
		all = append(all, field[app]{names: []string{shown}, get: func(a app) string { return gpuFields[i].get(a.card) }})
	}
	return all
}

var appFields = []field[app]{
	{names: []string{"pid"}, get: func(a app) string { return fmt.Sprint(a.Pid) }},
	{names: []string{"process_name", "name"}, get: func(a app) string { return processName(a.Pid) }},
	{names: []string{"used_gpu_memory", "used_memory"}, unit: "MiB", get: func(a app) string { return mib(a.Used) }},
}

func apps(cards []card) []app {
	var all []app
	for _, c := range cards {
		for _, u := range c.users() {
			all = append(all, app{c, u})
		}
	}
	return all
}

// noneOf is a kind that never has a row.
func noneOf(fields ...string) smiKind {
	k := kind[app]{ofCard(appOwn), func([]card) []app { return nil }}
	for _, f := range fields {
		k.fields = append(k.fields, unanswered[app](f))
	}
	return k
}

// unanswered is a field that no device here has, written as name|other name [unit].
func unanswered[T any](s string) field[T] {
	names, unit, _ := strings.Cut(s, " [")
	return field[T]{strings.Split(names, "|"), strings.TrimSuffix(unit, "]"), func(T) string { return "" }, true}
}

// about says what a field's value is.
func (k kind[T]) about(name string) string {
	i := slices.IndexFunc(k.fields, func(f field[T]) bool { return f.names[0] == name })
	switch f := k.fields[i]; {
	case f.never:
		return "No device here tells it."
	case f.unit != "":
		return "In " + f.unit + "."
	}
	return "A text or a number."
}

func (k kind[T]) names() [][]string {
	var all [][]string
	for _, f := range k.fields {
		all = append(all, f.names)
	}
	return all
}

// choose finds the fields that were asked for.
func (k kind[T]) choose(q *smiQuery, names []string) error {
	var chosen []field[T]
	for _, n := range names {
		n = strings.TrimSpace(n)
		i := slices.IndexFunc(k.fields, func(f field[T]) bool { return slices.Contains(f.names, n) })
		if i < 0 || strings.HasPrefix(n, ".") {
			return smiError{smiInvalid, fmt.Sprintf("Field \"%s\" is not a valid field to query.\n", n)}
		}
		f := k.fields[i]
		title := f.names[0]
		if f.unit != "" && q.units {
			title += " [" + f.unit + "]"
		}
		chosen, q.titles = append(chosen, f), append(q.titles, title)
	}
	q.rows = func(cards []card, units bool) [][]string {
		var rows [][]string
		for _, item := range k.items(cards) {
			var row []string
			for _, f := range chosen {
				v := f.get(item)
				switch {
				case v == "":
					v = "[N/A]"
				case v == deprecated:
					v = "[" + v + "]"
				case units && f.unit != "":
					v += " " + f.unit
				}
				row = append(row, v)
			}
			rows = append(rows, row)
		}
		return rows
	}
	return nil
}

// parseQuery reads the fields and the format of a selective query; csv is the only one, and need not be said.
func parseQuery(kind, fields, format string) (*smiQuery, error) {
	q := &smiQuery{header: true, units: true}
	for f := range strings.SplitSeq(format, ",") {
		switch strings.TrimSpace(f) {
		case "csv", "":
		case "noheader":
			q.header = false
		case "nounits":
			q.units = false
		default:
			return nil, smiError{smiInvalid, "Format modifier is not recognized."}
		}
	}
	return q, smiQueries[kind].choose(q, strings.Split(fields, ","))
}

// show prints comma-separated values.
func (q *smiQuery) show(out io.Writer, cards []card) error {
	if q.header {
		fmt.Fprintln(out, strings.Join(q.titles, ", "))
	}
	for _, row := range q.rows(cards, q.units) {
		fmt.Fprintln(out, strings.Join(row, ", "))
	}
	return nil
}
