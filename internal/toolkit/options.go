package toolkit

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// The programs share one way of writing options: --name value, --name=value, and the same with a short name after one dash. A
// short name of one letter may have a number behind it: -O3, -m64.

// takes is what follows an option.
type takes uint8

const (
	nothing takes = iota
	value
	truth // true or false
	list  // values with commas between; it may be repeated
	each  // a value; it may be repeated
)

// option is one row of a program's table. A program that has no use for it takes it and goes on.
type option struct {
	long, short string
	takes       takes
	allowed     func(string) bool // nil: anything
	about       string
}

// fatal is an error whose text the program prints behind its name.
type fatal string

func (f fatal) Error() string { return string(f) }

func fatalf(format string, args ...any) error { return fatal(fmt.Sprintf(format, args...)) }

// options are what a command line says.
type options struct {
	table    []option
	set      map[string][]string // by long name
	inputs   []string
	warnings []string
}

func (o *options) has(long string) bool { return len(o.set[long]) > 0 }

// get is the value of an option, or other if it was not given.
func (o *options) get(long, other string) string {
	if v := o.set[long]; len(v) > 0 {
		return v[len(v)-1]
	}
	return other
}

// optionsFile is the option that names files with further options.
const optionsFile = "options-file"

// parseOptions reads a command line.
func parseOptions(table []option, args []string) (*options, error) {
	o := &options{table: table, set: map[string][]string{}}
	return o, o.read(args, 0)
}

// maxFiles bounds how deep files of options name each other.
const maxFiles = 8

func (o *options) read(args []string, depth int) error {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if len(word) < 2 || word[0] != '-' {
			o.inputs = append(o.inputs, word)
			continue
		}
		opt, val, inline := o.find(word)
		switch {
		case opt == nil:
			name, _, _ := strings.Cut(word[1:], "=")
			return fatalf("Unknown option '%s'", name)
		case opt.takes == nothing && inline:
			return fatalf("no argument expected after '%s'", strings.SplitN(word, "=", 2)[0])
		case opt.takes == nothing:
			val = "true"
		case !inline && len(args) == 0:
			return fatalf("argument expected after '%s'", word)
		case !inline:
			val, args = args[0], args[1:]
		}
		if opt.long == optionsFile {
			if err := o.file(val, depth); err != nil {
				return err
			}
			continue
		}
		if err := o.put(opt, val); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) file(names string, depth int) error {
	for name := range strings.SplitSeq(names, ",") {
		b, err := os.ReadFile(name)
		if err != nil || depth == maxFiles {
			return fatalf("Could not open options file '%s'", name)
		}
		if err := o.read(strings.Fields(string(b)), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// find tells which option a word is, and the value in it.
func (o *options) find(word string) (opt *option, val string, inline bool) {
	name, val, inline := strings.Cut(strings.TrimLeft(word, "-"), "=")
	long := strings.HasPrefix(word, "--")
	i := slices.IndexFunc(o.table, func(t option) bool { return long && t.long == name || !long && t.short == name })
	if i < 0 && !long && len(word) > 2 && word[2] >= '0' && word[2] <= '9' {
		i = slices.IndexFunc(o.table, func(t option) bool { return t.short == word[1:2] && t.takes != nothing })
		val, inline = word[2:], true
	}
	if i < 0 {
		return nil, "", false
	}
	return &o.table[i], val, inline
}

func (o *options) put(opt *option, val string) error {
	values := []string{val}
	if opt.takes == list {
		values = strings.Split(val, ",")
	}
	for _, v := range values {
		switch {
		case opt.takes == truth && v != "true" && v != "false":
			return fatalf("'%s': expected true or false", v)
		case opt.allowed != nil && !opt.allowed(v):
			return fatalf("Value '%s' is not defined for option '%s'", v, opt.long)
		}
	}
	if had := o.set[opt.long]; opt.takes == value && len(had) > 0 && had[0] != val {
		o.warnings = append(o.warnings, fmt.Sprintf("incompatible redefinition for option '%s', the last value of this option was used", opt.long))
	}
	if opt.takes == list || opt.takes == each {
		values = append(o.set[opt.long], values...)
	}
	o.set[opt.long] = values
	return nil
}

// help lists a program's options.
func help(out io.Writer, usage string, table []option) {
	fmt.Fprintf(out, "\nUsage  : %s\n\nOptions\n=======\n", usage)
	for _, t := range table {
		arg := map[takes]string{value: " <value>", truth: " <true|false>", list: " <value>,...", each: " <value>"}[t.takes]
		fmt.Fprintf(out, "\n%-52s(-%s)\n        %s\n", "--"+t.long+arg, t.short, t.about)
	}
	fmt.Fprintln(out)
}
