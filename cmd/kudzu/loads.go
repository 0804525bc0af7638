package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/fatbin"
)

// loads is what the driver will do with a file's device code at the compute capability that programs see here.
type loads struct {
	Capability string         `json:"capability"`
	Taken      map[string]int `json:"taken"`             // by target: fat binaries, or texts
	Against    map[string]int `json:"against,omitempty"` // taken though a GPU of that capability would refuse it
	Nothing    map[string]int `json:"nothing,omitempty"` // by what is there: fat binaries that cannot be loaded
	Program    *program       `json:"program,omitempty"` // its row in the table of programs

	sm int
}

func newLoads(sm int) *loads {
	return &loads{Capability: fmt.Sprintf("%d.%d", sm/10, sm%10), Taken: map[string]int{}, Against: map[string]int{}, Nothing: map[string]int{}, sm: sm}
}

// program is the row of the table of programs that a file belongs to.
type program struct {
	Name       string `json:"name"`
	Capability string `json:"capability"`
	Why        string `json:"why"`
}

func findProgram(files ...string) *program {
	if p, ok := backend.FindPreference(files...); ok {
		return &program{p.Name, p.Capability.String(), p.Why}
	}
	return nil
}

// print says what the row asks for, and whether KUDZU_COMPUTE_CAPABILITY says otherwise.
func (p *program) print(out io.Writer, claimed string) {
	if p == nil {
		return
	}
	fmt.Fprintf(out, "%s gets compute capability %s: %s\n", p.Name, p.Capability, p.Why)
	if claimed != p.Capability {
		fmt.Fprintf(out, "  but KUDZU_COMPUTE_CAPABILITY says %s\n", claimed)
	}
}

// filesOf are the names by which the table of programs knows a file: its own and those of the libraries that it is linked with.
func filesOf(file string, data []byte) []string {
	files := []string{file}
	if f, err := elf.NewFile(bytes.NewReader(data)); err == nil {
		if libs, err := f.ImportedLibraries(); err == nil {
			files = append(files, libs...)
		}
	}
	return files
}

// container asks what a load of one fat binary takes.
func (l *loads) container(c *fatbin.Container) {
	pick, err := fatbin.Choose([]*fatbin.Container{c}, l.sm)
	var none *fatbin.NoCode
	switch {
	case errors.As(err, &none):
		l.Nothing[strings.Join(none.Have, ", ")]++
	case err != nil:
		l.Nothing[err.Error()]++
	default:
		l.target(pick.Target)
	}
}

func (l *loads) target(t fatbin.Target) {
	if t.Runs(l.sm) {
		l.Taken[t.String()]++
	} else {
		l.Against[t.String()]++
	}
}

func (l *loads) print(out io.Writer) {
	fmt.Fprintf(out, "  at compute capability %s a load takes the PTX for %s\n", l.Capability, orNone(counted(l.Taken)))
	if len(l.Against) > 0 {
		fmt.Fprintf(out, "  taken although a GPU of %s would refuse it (said once at run time): %s\n", l.Capability, strings.Join(counted(l.Against), " "))
	}
	for _, what := range sortedKeys(l.Nothing) {
		fmt.Fprintf(out, "  %d fat binaries cannot be loaded (CUDA_ERROR_NO_BINARY_FOR_GPU): they hold %s\n", l.Nothing[what], orNone([]string{what}))
	}
}

// counted is a count a word: "sm_80 ×3".
func counted(m map[string]int) []string {
	words := sortedKeys(m)
	for i, w := range words {
		words[i] = fmt.Sprintf("%s ×%d", w, m[w])
	}
	return words
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
