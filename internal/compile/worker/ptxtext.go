package worker

import (
	"fmt"
	"regexp"
	"strings"

	"kudzu/internal/ptx"
)

// finishPTX makes a module of what LLVM wrote of its code: the program's own variables, which LLVM knows by name only, its version and
// target, and the kernels' directives.
func finishPTX(m *ptx.Module, text, target string) string {
	var out strings.Builder
	version := fmt.Sprintf("%d.%d", m.Version.Major(), m.Version.Minor())
	if v := llvmVersion.FindStringSubmatch(text); v != nil && newer(v[1], version) {
		version = v[1]
	}
	modes := ""
	for _, w := range m.Target.Modes {
		if strings.HasPrefix(w, "texmode") {
			modes += ", " + w
		}
	}
	fmt.Fprintf(&out, ".version %s\n.target %s%s\n.address_size 64\n\n", version, target, modes)
	body := text
	if i := strings.Index(body, ".address_size 64"); i >= 0 {
		body = body[i+len(".address_size 64"):]
	}
	for _, f := range m.Funcs { // an initialiser may name a function
		if f.Kind == ptx.DeviceFunc {
			if h := functionHead(body, f.Name); h != "" {
				out.WriteString(h + ";\n")
			}
		}
	}
	var vars strings.Builder
	if err := ptx.PrintVars(&vars, m); err != nil {
		panic("BUG: a strings.Builder refused text")
	}
	out.WriteString(vars.String())
	perf := map[string]string{}
	for _, f := range m.Funcs {
		if f.Kind == ptx.Entry && f.Body != nil {
			perf[f.Name] = f.PerfText()
		}
	}
	entry := ""
	for _, line := range strings.Split(body, "\n") {
		switch {
		case strings.HasPrefix(line, ".extern .global"), strings.HasPrefix(line, ".extern .const"):
			continue // the program's variables, above
		case strings.Contains(line, ".entry "):
			_, rest, _ := strings.Cut(line, ".entry ")
			entry, _, _ = strings.Cut(rest, "(")
		case line == "{" && entry != "":
			if p := perf[strings.TrimSpace(entry)]; p != "" {
				out.WriteString(p + "\n")
			}
			entry = ""
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

var llvmVersion = regexp.MustCompile(`(?m)^\.version (\d+\.\d+)$`)

// newer compares versions as numbers.
func newer(a, b string) bool {
	var a1, a2, b1, b2 int
	fmt.Sscanf(a, "%d.%d", &a1, &a2)
	fmt.Sscanf(b, "%d.%d", &b1, &b2)
	return a1 > b1 || a1 == b1 && a2 > b2
}

// functionHead is the head of a function that body defines, "" if it does not.
func functionHead(body, name string) string {
	for at := 0; ; {
		i := strings.Index(body[at:], ".func ")
		if i < 0 {
			return ""
		}
		i += at
		at = i + len(".func ")
		end := strings.IndexAny(body[i:], "{;")
		if end < 0 || body[i+end] == ';' {
			continue
		}
		head := strings.TrimSpace(body[i : i+end])
		if regexp.MustCompile(`(^|[\s)])` + regexp.QuoteMeta(name) + `\s*\(`).MatchString(head) {
			return head
		}
	}
}
