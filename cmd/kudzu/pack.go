package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"kudzu/internal/fatbin"
	"kudzu/internal/pack"
)

// runPack looks after the store of PTX packs.
func runPack(args []string, out io.Writer) error {
	what := "ls"
	if len(args) > 0 {
		what, args = args[0], args[1:]
	}
	switch what {
	case "add":
		return packAdd(args, out)
	case "rm":
		return packRemove(args, out)
	case "dir", "ls":
		if len(args) > 0 {
			return errUsage{"pack " + what + " takes nothing more"}
		}
		if what == "dir" {
			fmt.Fprintln(out, pack.Dir())
			return nil
		}
		return packList(out)
	}
	return errUsage{fmt.Sprintf("pack %q: there are add, ls, rm and dir", what)}
}

func packList(out io.Writer) error {
	packs, damaged := pack.List()
	for _, p := range packs {
		fmt.Fprintf(out, "%s  %d modules, %d kernels, %s, from %s\n", p.Name, p.Modules, p.Kernels, size(p.Bytes), p.From)
	}
	for _, err := range damaged {
		fmt.Fprintf(os.Stderr, "kudzu: %v\n", err)
	}
	fmt.Fprintf(out, "%d packs in %s\n", len(packs), pack.Dir())
	return nil
}

// packRemove takes packs out by library, or by library and version.
func packRemove(args []string, out io.Writer) error {
	if len(args) == 0 || len(args) > 2 {
		return errUsage{"pack rm LIBRARY [VERSION]"}
	}
	packs, _ := pack.List()
	n := 0
	for _, p := range packs {
		if p.Library != args[0] || len(args) == 2 && p.Version != args[1] {
			continue
		}
		if err := pack.Remove(p.Name); err != nil {
			return err
		}
		fmt.Fprintf(out, "removed %s\n", p.Name)
		n++
	}
	if n == 0 {
		return fmt.Errorf("no pack %s", strings.Join(args, " "))
	}
	return nil
}

// packAdd takes the PTX of a file, of everything below a folder, of a Python package, or of a Debian package.
func packAdd(args []string, out io.Writer) error {
	from, version := "", ""
	for _, a := range args {
		v, isVersion := strings.CutPrefix(a, "--version=")
		switch {
		case isVersion:
			version = v
		case strings.HasPrefix(a, "-"):
			return errUsage{"unknown option " + a}
		case from != "":
			return errUsage{"one file, folder or package at a time"}
		default:
			from = a
		}
	}
	if from == "" {
		return errUsage{"pack add FILE|FOLDER|PACKAGE [--version=V]"}
	}
	place, done, err := packSource(from, &version)
	if err != nil {
		return err
	}
	defer done()
	added := 0
	err = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if path != place && !strings.Contains(d.Name(), ".so") {
			return nil
		}
		n, err := packFile(path, version, path == place, out)
		added += n
		return err
	})
	if err == nil && added == 0 {
		err = fmt.Errorf("%s has no PTX: kudzu check says what is in it", from)
	}
	return err
}

// packSource is the file or folder to look into; a package is found by the Python on the path, or unpacked. version is set where
// the package says it and the user does not.
func packSource(from string, version *string) (place string, done func(), err error) {
	done = func() {}
	if _, err := os.Stat(from); err != nil {
		if strings.Contains(from, "/") {
			return "", done, err
		}
		dir, err := pythonPackage(from)
		if err != nil {
			return "", done, fmt.Errorf("%s is no file, no folder, and no package of python3: %w", from, err)
		}
		return dir, done, nil
	}
	place, err = filepath.EvalSymlinks(from)
	var unpack []string
	dir := ""
	switch {
	case err != nil:
		return "", done, err
	case strings.HasSuffix(place, ".deb"):
		unpack = []string{"dpkg-deb", "-x", place}
	case strings.HasSuffix(place, ".whl"):
		unpack = []string{"python3", "-c", ownPath + "import zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])", place}
	default:
		return place, done, nil
	}
	if dir, err = os.MkdirTemp("", "kudzu-pack-"); err != nil {
		return "", done, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	unpack = append(unpack, dir)
	if *version == "" && strings.HasSuffix(place, ".whl") { // NAME-VERSION-…, with underscores in either
		if parts := strings.Split(filepath.Base(place), "-"); len(parts) > 1 {
			*version = pack.Release(parts[1])
		}
	}
	if log, err := exec.Command(unpack[0], unpack[1:]...).CombinedOutput(); err != nil {
		done()
		return "", func() {}, fmt.Errorf("%s: %w\n%s", unpack[0], err, log)
	}
	return dir, done, nil
}

// packFile adds a library; one without PTX is passed over, with a word if it was asked for by its name.
func packFile(path, version string, named bool, out io.Writer) (added int, err error) {
	data, err := readCode(path)
	if err != nil {
		if named {
			return 0, err
		}
		return 0, nil
	}
	defer data.close()
	name := pack.NameOf(path)
	if version != "" {
		name.Version = version
	}
	var a *pack.Adder
	for c := range fatBinaries(data.bytes) {
		if !hasPTX(c) {
			continue
		}
		if name.Version == "" {
			return 0, fmt.Errorf("the version of %s is not known: say it with --version=V", path)
		}
		if a == nil {
			if a, err = pack.Begin(name, path); err != nil {
				return 0, err
			}
		}
		if err := a.Container(c, newestSM); err != nil {
			fmt.Fprintf(os.Stderr, "kudzu: %s: a module is left out: %.200s\n", path, err)
		}
	}
	if a == nil {
		return 0, nil
	}
	if a.Kernels() == 0 {
		a.Drop()
		return 0, nil
	}
	if err := a.Done(); err != nil {
		a.Drop()
		return 0, err
	}
	fmt.Fprintf(out, "added %s: %d modules, %d kernels\n", name, a.Modules(), a.Kernels())
	return 1, nil
}

// newestSM is the capability for which a pack's PTX is chosen: the newest there is, since devices here run all.
const newestSM = 999

func hasPTX(c *fatbin.Container) bool {
	for i := range c.Entries {
		if c.Entries[i].Kind == fatbin.PTX {
			return true
		}
	}
	return false
}

// ownPath begins what python3 runs for us: without the current folder, in which a downloaded project may have a json.py, and with
// everything else that a program would find its packages in.
const ownPath = "import sys\nsys.path = [p for p in sys.path if p]\n"

// pythonPackage is the folder of a package of the Python on the path. Nothing of the package runs.
func pythonPackage(name string) (string, error) {
	if strings.ContainsAny(name, "-. ") {
		return "", errors.New("a package's import name is needed, such as torch")
	}
	cmd := exec.Command("python3", "-c", ownPath+"import importlib.util\ns = importlib.util.find_spec(sys.argv[1])\nprint(s.submodule_search_locations[0] if s and s.submodule_search_locations else '')", name)
	b, err := cmd.Output()
	if err != nil {
		return "", err
	}
	dir := strings.TrimSpace(string(b))
	if dir == "" {
		return "", errors.New("not installed")
	}
	return dir, nil
}
