package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kudzu/internal/fatbin"
	"kudzu/internal/lazyre"
	"kudzu/internal/pack"
)

// checkedApp is a Python script or package: what of it is CUDA, and what stands between it and running.
type checkedApp struct {
	what     string // as the user named it
	run      string // what to type
	packages []string
	libs     []appLibrary
	missing  []string // packages that it names and that are not installed
}

// appLibrary is a library with device code, or one that needs CUDA's.
type appLibrary struct {
	file         string
	name         pack.Name
	ptx, machine map[string]int // entries by target
	modules      int
	closed       int // modules with machine code only
	packed       *packed
	unanswered   []string // functions it is linked with that nobody implements
}

// frameworks are packages whose device code is in other packages, by what scripts import.
var frameworks = map[string][]string{
	"jax":        {"jaxlib", "jax_plugins", "jax_cuda12_plugin", "jax_cuda13_plugin"},
	"flax":       {"jaxlib", "jax_plugins", "jax_cuda12_plugin", "jax_cuda13_plugin"},
	"keras":      {"tensorflow", "torch"},
	"cupy":       {"cupy", "cupy_backends", "cupyx"},
	"lightning":  {"torch"},
	"torchaudio": {"torchaudio", "torch"}, "torchvision": {"torchvision", "torch"}, "transformers": {"torch"}, "diffusers": {"torch"}, "accelerate": {"torch"},
}

// isApp tells what checkApp looks at from files with code: a Python script, a folder, or a name that is no file.
func isApp(name string) bool {
	st, err := os.Stat(name)
	if err != nil {
		return !strings.Contains(name, "/") && !strings.Contains(name, ".")
	}
	if !st.Mode().IsRegular() { // a pipe is not opened to look at it
		return st.IsDir()
	}
	if strings.HasSuffix(name, ".py") {
		return true
	}
	interp, ok := scriptOf(name)
	return ok && strings.Contains(filepath.Base(interp), "python")
}

// runCheckApp says in plain words what stands between a Python program and running.
func runCheckApp(name string, out io.Writer) error {
	a := &checkedApp{what: name}
	if err := a.find(); err != nil {
		return err
	}
	a.print(out)
	return a.verdict()
}

// find looks for the packages and their libraries.
func (a *checkedApp) find() error {
	st, err := os.Stat(a.what)
	switch {
	case err != nil:
		dir, err := pythonPackage(a.what)
		if err != nil {
			return fmt.Errorf("%s is no file, no folder, and no package of python3: %w", a.what, err)
		}
		a.run, a.packages = "kudzu run -- python3 YOUR_SCRIPT", []string{dir}
	case st.IsDir():
		a.run, a.packages = "kudzu run -- YOUR_PROGRAM", []string{a.what}
	default:
		if a.packages, a.missing, err = scriptPackages(a.what); err != nil {
			return err
		}
		a.run = "kudzu run -- python3 " + a.what
	}
	for _, dir := range a.packages {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !strings.Contains(d.Name(), ".so") && !strings.HasSuffix(d.Name(), ".fatbin") {
				return nil // what cannot be read is not the program's either
			}
			if l := lookInto(path); l != nil {
				a.libs = append(a.libs, *l)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var imports = lazyre.New(`^\s*(?:import\s+([^#;]*)|from\s+([A-Za-z_][A-Za-z0-9_]*)[\w.]*\s+import\b)`)

// importedBy are the packages that a script imports, by name, and whether it says that it can do without: try is the line before.
func importedBy(text string) map[string]bool {
	names := map[string]bool{}
	before := ""
	for line := range strings.Lines(text) {
		optional := before == "try:"
		if s := strings.TrimSpace(line); s != "" && s[0] != '#' {
			before = s
		}
		m := imports().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, name := range strings.Split(m[1]+m[2], ",") { // import a.b as c, d
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			name, _, _ = strings.Cut(name, ".")
			if name == "" || strings.ContainsFunc(name, notInName) {
				continue
			}
			was, known := names[name]
			names[name] = optional && (was || !known)
		}
	}
	return names
}

func notInName(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// maxScript bounds what is read of a script.
const maxScript = 16 << 20

// scriptPackages are the folders of the packages that a script imports by name, with those that have their device code. Nothing runs.
func scriptPackages(script string) (dirs, missing []string, err error) {
	f, err := os.Open(script)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxScript))
	if err != nil {
		return nil, nil, err
	}
	optional := importedBy(string(text))
	var names []string
	for n := range optional {
		names = append(names, n)
		names = append(names, frameworks[n]...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	found, err := pythonPackages(names)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		if dir := found[n]; dir != "" {
			dirs = append(dirs, dir)
		} else if can, asked := optional[n]; asked && !can && (frameworks[n] != nil || n == "torch" || n == "tensorflow") {
			missing = append(missing, n) // others may be modules beside the script
		}
	}
	return dirs, missing, nil
}

// pythonPackages are the folders of packages of the Python on the path, outside its own library.
func pythonPackages(names []string) (map[string]string, error) {
	const ask = ownPath + "import importlib.util, json, sysconfig\nown = sysconfig.get_paths()['stdlib']\nout = {}\nfor n in sys.argv[1:]:\n" +
		"  try: s = importlib.util.find_spec(n)\n  except Exception: s = None\n" +
		"  d = (s and s.submodule_search_locations or [''])[0]\n" +
		"  if d and (not d.startswith(own) or 'site-packages' in d or 'dist-packages' in d): out[n] = d\nprint(json.dumps(out))"
	b, err := exec.Command("python3", append([]string{"-c", ask}, names...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("python3: %w", err)
	}
	found := map[string]string{}
	return found, json.Unmarshal(b, &found)
}

// lookInto reads a library's containers by their headers, and what it is linked with; nil if it has nothing to do with CUDA.
func lookInto(path string) *appLibrary {
	data, err := readCode(path)
	if err != nil {
		return nil
	}
	defer data.close()
	l := &appLibrary{file: path, name: pack.NameOf(path), ptx: map[string]int{}, machine: map[string]int{}}
	for c := range fatBinaries(data.bytes) {
		l.modules++
		if !hasPTX(c) {
			l.closed++
		}
		for i := range c.Entries {
			target := fmt.Sprintf("sm_%d", c.Entries[i].SM)
			switch c.Entries[i].Kind {
			case fatbin.PTX:
				l.ptx[target]++
			case fatbin.ELF:
				l.machine[target]++
			}
		}
	}
	if l.closed > 0 {
		l.packed = packedOf(path, data.bytes)
	}
	if dir, err := libraryDir(); err == nil {
		if n := needsOf(data.bytes, dir); n != nil {
			l.unanswered = n.missing(true)
		}
	}
	if l.modules == 0 && len(l.unanswered) == 0 {
		return nil
	}
	return l
}

// open says whether all of a library's modules have PTX, or a pack that has some of their kernels.
func (l *appLibrary) open() bool { return l.closed == 0 || l.packed != nil && l.packed.Found > 0 }

func (l *appLibrary) print(out io.Writer) {
	fmt.Fprintf(out, "%s", l.file)
	if l.name.Version != "" {
		fmt.Fprintf(out, " (%s)", l.name.Version)
	}
	fmt.Fprintln(out)
	if l.modules > 0 {
		fmt.Fprintf(out, "  %d modules with device code; PTX for %s; machine code for %s\n", l.modules, orNone(sortedKeys(l.ptx)), orNone(sortedKeys(l.machine)))
	}
	if l.closed > 0 {
		fmt.Fprintf(out, "  %d of them are machine code only, which is not translated\n", l.closed)
		l.packed.print(out)
	}
	if len(l.unanswered) > 0 {
		fmt.Fprintf(out, "  it is linked with functions that are not implemented: %s\n", strings.Join(l.unanswered, " "))
	}
}

func (a *checkedApp) print(out io.Writer) {
	for i := range a.libs {
		a.libs[i].print(out)
	}
	for _, m := range a.missing {
		fmt.Fprintf(out, "%s is imported and not installed for the python3 on the path\n", m)
	}
	closed := 0
	for i := range a.libs {
		if !a.libs[i].open() {
			closed++
		}
	}
	switch {
	case len(a.missing) > 0:
		fmt.Fprintf(out, "%s: it cannot start before that is installed.\n", a.what)
		return
	case len(a.libs) == 0:
		fmt.Fprintf(out, "%s: no device code in its packages. What it compiles when it runs works here.\n", a.what)
	case closed == len(a.libs):
		fmt.Fprintf(out, "%s: none of its device code can run here as it is.\n", a.what)
	case closed > 0:
		fmt.Fprintf(out, "%s: %d of %d libraries cannot run here as they are.\n", a.what, closed, len(a.libs))
	default:
		fmt.Fprintf(out, "%s: nothing stands between it and running.\n", a.what)
	}
	if len(a.libs) == 0 || closed < len(a.libs) {
		fmt.Fprintf(out, "Type: %s\n", a.run)
	}
}

var errNotInstalled = errors.New("a package is not installed")

func (a *checkedApp) verdict() error {
	switch {
	case len(a.missing) > 0:
		return errNotInstalled
	case len(a.libs) == 0:
		return nil
	}
	open := slices.ContainsFunc(a.libs, func(l appLibrary) bool { return l.open() })
	unanswered := slices.ContainsFunc(a.libs, func(l appLibrary) bool { return len(l.unanswered) > 0 })
	switch {
	case !open:
		return exitNoCode
	case unanswered:
		return exitMissing
	}
	return nil
}
