package cudacc

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"kudzu/internal/lazyre"
)

// message is one of clang's diagnostics.
type message struct {
	file    string
	line    int
	level   string // error, fatal error, warning, note
	text    string
	source  string // the line, "" if it was not shown
	caret   int    // the column in source, from 0
	hasLine bool
}

var (
	headLine  = lazyre.New(`^(.+?):(\d+):(\d+): (fatal error|error|warning|note): (.*)$`)
	bareLine  = lazyre.New(`^(?:[\w-]+: )?(fatal error|error): (.*)$`)
	caretLine = lazyre.New(`^[ \t~]*\^[ ~]*$`)
)

// read takes clang's standard error apart.
func read(text string) []message {
	var list []message
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if m := headLine().FindStringSubmatch(lines[i]); m != nil {
			n, _ := strconv.Atoi(m[2]) // digits
			msg := message{file: m[1], line: n, level: m[4], text: m[5]}
			if i+2 < len(lines) && caretLine().MatchString(lines[i+2]) {
				msg.source, msg.caret, msg.hasLine = lines[i+1], strings.IndexByte(lines[i+2], '^'), true
				i += 2
			}
			list = append(list, msg)
		} else if m := bareLine().FindStringSubmatch(lines[i]); m != nil {
			list = append(list, message{level: m[1], text: m[2]})
		}
	}
	return list
}

// Missing is an include of a header that is not there.
type Missing struct {
	File string // that includes it, as clang names it
	Name string
}

var missingHeader = lazyre.New(`^'(.*)' file not found$`)

// MissingHeader is the include that a compilation ended at, nil if it did not.
func MissingHeader(text string) *Missing {
	for _, m := range read(text) {
		if name := missingHeader().FindStringSubmatch(m.text); name != nil && m.level == "fatal error" {
			return &Missing{m.file, name[1]}
		}
	}
	return nil
}

// words are clang's messages and what NVRTC's compiler says to the same mistake. number is the message's, of those that are warnings.
var words = []struct {
	clang  lazyre.Expression
	nvrtc  string
	number int
	fatal  bool // catastrophic to NVRTC's compiler
}{
	{lazyre.New(`^(?:use of undeclared identifier|unknown type name) '([^']*)'.*`), `identifier "$1" is undefined`, 0, false},
	{lazyre.New(`^expected ('[;\])}]').*`), `expected a $1`, 0, false},
	{lazyre.New(`^expected ';' .*`), `expected a ";"`, 0, false},
	{lazyre.New(`^expected expression$`), `expected an expression`, 0, false},
	{lazyre.New(`^no member named '([^']*)' in namespace '([^']*)'.*`), `namespace "$2" has no member "$1"`, 0, false},
	{lazyre.New(`^no (?:type|template) named '([^']*)' in namespace '([^']*)'.*`), `namespace "$2" has no member "$1"`, 0, false},
	{lazyre.New(`^no (?:member|type|template) named '([^']*)' in '([^']*)'.*`), `class "$2" has no member "$1"`, 0, false},
	{lazyre.New(`^static assertion failed(?: due to requirement '.*')?: (.*)$`), `static assertion failed with "$1"`, 0, false},
	{lazyre.New(`^static assertion failed(?: due to requirement '.*')?$`), `static assertion failed`, 0, false},
	{lazyre.New(`^redefinition of '([^']*)'$`), `"$1" has already been declared in the current scope`, 0, false},
	{lazyre.New(`^redefinition of '([^']*)' with a different type.*`), `"$1" has already been declared in the current scope`, 0, false},
	{lazyre.New(`^kernel function type '.*' must have void return type$`), `a __global__ function must have a void return type`, 0, false},
	{lazyre.New(`^(?:read-only variable is not assignable|expression is not assignable|cannot assign to .*)$`), `expression must be a modifiable lvalue`, 0, false},
	{lazyre.New(`^cannot initialize a variable of type '([^']*)' with an? [lr]value of type '([^']*)'.*`), `a value of type "$2" cannot be used to initialize an entity of type "$1"`, 0, false},
	{lazyre.New(`^assigning to '([^']*)' from incompatible type '([^']*)'.*`), `a value of type "$2" cannot be assigned to an entity of type "$1"`, 0, false},
	{lazyre.New(`^no viable conversion from '([^']*)' to '([^']*)'.*`), `no suitable conversion function from "$1" to "$2" exists`, 0, false},
	{lazyre.New(`^member reference base type '([^']*)' is not a structure or union$`), `expression must have class type but it has type "$1"`, 0, false},
	{lazyre.New(`^called object type '[^']*' is not a function or function pointer$`), `expression preceding parentheses of apparent call must have (pointer-to-) function type`, 0, false},
	{lazyre.New(`^kernel launch from __device__ or __global__ function requires relocatable device code.*`), `kernel launch from __device__ or __global__ functions requires separate compilation mode`, 0, false},
	{lazyre.New(`^use of undeclared label '([^']*)'$`), `label "$1" was referenced but not defined`, 0, false},
	{lazyre.New(`^'break' statement not in loop or switch statement$`), `a break statement may only be used within a loop or switch`, 0, false},
	{lazyre.New(`^duplicate case value '.*'$`), `case label value has already appeared in this switch`, 0, false},
	{lazyre.New(`^variable has incomplete type '([^']*)'$`), `incomplete type "$1" is not allowed`, 0, false},
	{lazyre.New(`^'([^']*)' is a private member of '([^']*)'$`), `member "$2::$1" is inaccessible`, 0, false},
	{lazyre.New(`^excess elements in .* initializer$`), `too many initializer values`, 0, false},
	{lazyre.New(`^cannot use '(?:throw|try)' .*`), `device code does not support exception handling`, 0, false},
	{lazyre.New(`^missing terminating (?:'|") character.*`), `missing closing quote`, 0, false},
	{lazyre.New(`^unterminated conditional directive$`), `the #endif for this directive is missing`, 0, false},
	{lazyre.New(`^reference to __host__ (?:function|variable) '([^']*)' in (__\w+__(?: __\w+__)?) function$`), `calling a __host__ function("$1") from a $2 function is not allowed`, 0, false},
	{lazyre.New(`^'(.*)' file not found$`), `cannot open source file "$1"`, 0, true},
	{lazyre.New(`^cannot open file '(.*)': .*`), `cannot open source file "$1"`, 0, true},
	{lazyre.New(`^unused variable '([^']*)'$`), `variable "$1" was declared but never referenced`, 177, false},
	{lazyre.New(`^variable '([^']*)' set but not used$`), `variable "$1" was set but never used`, 550, false},
	{lazyre.New(`^non-void (?:function|lambda) does not return a value(?: in all control paths)?$`), `missing return statement at end of non-void function`, 940, false},
}

// translate is a message in NVRTC's words. What it has no words for stays clang's, which names things in single quotes.
func (m *message) translate() (text string, number int, fatal bool) {
	if strings.HasPrefix(strings.TrimSpace(m.source), "#error") && m.level == "error" {
		return "#error directive: " + m.text, 0, true
	}
	if strings.HasPrefix(strings.TrimSpace(m.source), "#warning") && m.level == "warning" {
		return "#warning directive: " + m.text, 1105, false
	}
	for _, w := range words {
		at := w.clang().FindStringSubmatchIndex(m.text)
		if at == nil {
			continue
		}
		text := string(w.clang().ExpandString(nil, w.nvrtc, m.text, at))
		text = strings.ReplaceAll(text, `""`, `"`)
		if strings.HasPrefix(text, "expected a '") {
			text = strings.ReplaceAll(text, "'", `"`)
		}
		return text, w.number, w.fatal
	}
	return strings.ReplaceAll(m.text, "'", `"`), 0, m.level == "fatal error"
}

// Logger writes NVRTC's log of a compilation.
type Logger struct {
	Options *Options
	Place   *Place
	Name    string   // of the program
	Exprs   []string // of its name expressions
}

// counts are the errors of a log, and whether it has told how to be rid of warnings.
type counts struct {
	errors, fatal int
	remarked      bool
}

// Log is NVRTC's log for what clang printed.
func (l *Logger) Log(text string) string {
	var b strings.Builder
	var n counts
	list := read(text)
	for i := range list {
		m := &list[i]
		if m.level == "note" || m.level == "warning" && l.Options.NoWarnings {
			continue
		}
		var notes []message
		for j := i + 1; j < len(list) && list[j].level == "note"; j++ {
			notes = append(notes, list[j])
		}
		l.write(&b, m, notes, &n)
		if n.fatal > 0 {
			break
		}
	}
	switch {
	case n.fatal > 0 && n.errors > 0:
		fmt.Fprintf(&b, "%s and 1 catastrophic error detected in the compilation of %q.\nCompilation terminated.\n", plural(n.errors), l.Name)
	case n.fatal > 0:
		fmt.Fprintf(&b, "1 catastrophic error detected in the compilation of %q.\nCompilation terminated.\n", l.Name)
	case n.errors > 0:
		fmt.Fprintf(&b, "%s detected in the compilation of %q.\n", plural(n.errors), l.Name)
	}
	return b.String()
}

func plural(n int) string {
	if n == 1 {
		return "1 error"
	}
	return fmt.Sprintf("%d errors", n)
}

// write adds a message, and the notes that belong to it.
func (l *Logger) write(b *strings.Builder, m *message, notes []message, n *counts) {
	text, number, fatal := m.translate()
	if fatal && strings.HasSuffix(text, `"`) && m.hasLine && strings.Contains(m.source, "<") && len(l.Options.Includes) == 0 && strings.HasPrefix(text, "cannot open") {
		text = "could not" + strings.TrimPrefix(text, "cannot") + " (no directories in search list)"
	}
	level := "error"
	if m.level == "warning" {
		level = "warning"
		if to, ok := l.Options.Severity[number]; ok {
			level = to
		}
	}
	switch {
	case level == "":
		return
	case fatal:
		level = "catastrophic error"
		n.fatal++
	case level == "error":
		n.errors++
	}
	if number != 0 && !l.Options.NoNumbers {
		level += fmt.Sprintf(" #%d-D", number)
	}
	if m.file == nameMap {
		l.expression(b, m, text, n)
		return
	}
	if m.file == "" {
		fmt.Fprintf(b, "%s: %s\n\n", level, text)
		return
	}
	if fatal && strings.Contains(text, " open source file ") {
		m.caret = len(m.source) // behind the name
	}
	text = arguments(text, notes)
	fmt.Fprintf(b, "%s(%d): %s: %s\n", l.file(m.file), m.line, level, text)
	l.snippet(b, m.source, m.caret, m.hasLine)
	for _, note := range notes {
		l.note(b, m, &note)
	}
	b.WriteByte('\n')
	if strings.HasPrefix(level, "warning") && !n.remarked {
		n.remarked = true
		b.WriteString("Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n")
	}
}

var count = lazyre.New(`^candidate function not viable: requires (?:at (?:least|most) )?(\d+) arguments?, but (\d+) (?:was|were) provided$`)

// arguments is a message about a call with a false number of arguments, where there is one function that it can mean.
func arguments(text string, notes []message) string {
	if len(notes) != 1 || !strings.HasPrefix(text, "no matching function for call to ") {
		return text
	}
	m := count().FindStringSubmatch(notes[0].text)
	if m == nil {
		return text
	}
	want, _ := strconv.Atoi(m[1]) // digits
	got, _ := strconv.Atoi(m[2])
	if got < want {
		return "too few arguments in function call"
	}
	return "too many arguments in function call"
}

var instance = lazyre.New(`^in instantiation of .* '([^']*)' requested here$`)

// note adds where a template was used, and what else could have been called. What else clang points at NVRTC does not mention.
func (l *Logger) note(b *strings.Builder, m, note *message) {
	at := fmt.Sprintf("at line %d", note.line)
	if note.file != m.file {
		at += " of " + l.file(note.file)
	}
	if i := instance().FindStringSubmatch(note.text); i != nil {
		fmt.Fprintf(b, "          detected during instantiation of %q %s\n", i[1], at)
		return
	}
	if strings.HasPrefix(note.text, "candidate ") && !count().MatchString(note.text) {
		fmt.Fprintf(b, "          %s %s\n", strings.ReplaceAll(note.text, "'", `"`), at)
	}
}

func (l *Logger) snippet(b *strings.Builder, source string, caret int, shown bool) {
	if shown && !l.Options.Brief {
		fmt.Fprintf(b, "  %s\n  %s^\n", source, strings.Repeat(" ", caret))
	}
}

// file is how the log names a file: headers that the program brought have the names that it gave them.
func (l *Logger) file(name string) string {
	if rest, ok := strings.CutPrefix(name, filepath.Join(l.Place.Work, HeaderRoot)+"/"); ok {
		return rest
	}
	return name
}

var token = lazyre.New(`\w+|::|->|\S`)

// expression is the log of a name expression that is wrong.
func (l *Logger) expression(b *strings.Builder, m *message, text string, n *counts) {
	const pragma = "#pragma nv_mangled_name "
	expr := ""
	if i := m.line - firstName; i >= 0 && i < len(l.Exprs) {
		expr = l.Exprs[i]
	}
	at := max(m.caret-strings.Index(m.source, " = ")-len(" = "), 0)
	if !strings.HasPrefix(expr, "&") && !strings.HasPrefix(expr, "(") {
		at = max(at-1, 0)
	}
	fmt.Fprintf(b, "%s(%d): error: %s\n", nameMap, m.line, text)
	l.snippet(b, pragma+expr, len(pragma)+min(at, len(expr)), true)
	n.errors++
	fmt.Fprintf(b, "\n%s(%d): error: Error in parsing name expression for lowered name lookup. Input name expression was: \" %s\"\n", nameMap, m.line, strings.Join(token().FindAllString(expr, -1), " "))
	l.snippet(b, pragma+expr, len(pragma), true)
	b.WriteByte('\n')
}
