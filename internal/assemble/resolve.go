package assemble

import (
	"strings"

	"kudzu/internal/devrt"
	"kudzu/internal/ptx"
)

// systemFuncs are the functions that kernels may call without a definition.
var systemFuncs = map[string]bool{"vprintf": true, "malloc": true, "free": true, "__assertfail": true}

// Unresolved is the first function that is used and that neither the module nor the system has; "" if all are there.
func Unresolved(m *ptx.Module) string {
	known := map[string]bool{}
	for _, f := range m.Funcs {
		if f.Body != nil {
			known[f.Name] = true
		}
	}
	for _, a := range m.Aliases {
		known[a.Name] = true
	}
	for _, f := range m.Funcs {
		if f.Body == nil {
			continue
		}
		for i := range f.Body.Insts {
			if name := missing(f.Body.Insts[i].Args, known); name != "" {
				return name
			}
		}
	}
	return ""
}

// User is the name of the first module that mentions a function.
func User(parts []ptx.Part, function string) string {
	for _, p := range parts {
		if strings.Contains(p.Text, function) {
			return p.Name
		}
	}
	return ""
}

func missing(args []ptx.Operand, known map[string]bool) string {
	for i := range args {
		a := &args[i]
		if a.Kind == ptx.OpFunc && !known[a.Name] && !systemFuncs[a.Name] && devrt.CallOf(a.Name) < 0 {
			return a.Name
		}
		if name := missing(a.Elems, known); name != "" {
			return name
		}
	}
	return ""
}
