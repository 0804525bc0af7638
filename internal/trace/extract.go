package trace

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Extracted is what Extract found.
type Extracted struct {
	Modules int // files as programs gave them
	Texts   int // different texts of PTX, in modules or of their own
}

// Modules are how many modules a trace's folder has, and their bytes.
func Modules(dir string) (n int, bytes int64, err error) {
	entries, err := moduleFiles(dir)
	for _, e := range entries {
		if st, err := e.Info(); err == nil {
			n++
			bytes += st.Size()
		}
	}
	return n, bytes, err
}

// moduleFiles lists the modules of a trace's folder as programs gave them.
func moduleFiles(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(filepath.Join(dir, ModulesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		hash, ext, _ := strings.Cut(e.Name(), ".")
		return !e.Type().IsRegular() || !plain(hash) || !plain(ext) // ext has a dot where we wrote it
	}), err
}

// taken is a module that was taken apart.
type taken struct {
	parts []Part
	err   error // of reading the file
}

// takeApart reads modules with every processor, in their order, and no more of them at a time.
func takeApart(dir string, entries []fs.DirEntry) <-chan chan taken {
	queue := make(chan chan taken, runtime.GOMAXPROCS(0)-1)
	go func() {
		defer close(queue)
		for _, e := range entries {
			one := make(chan taken, 1)
			queue <- one
			go func() {
				st, err := e.Info()
				if err != nil || st.Size() > maxModule {
					one <- taken{}
					return
				}
				b, err := os.ReadFile(filepath.Join(dir, ModulesDir, e.Name()))
				t := taken{err: err}
				if err == nil {
					t.parts, _ = Parts(b) // not everything that is loaded is code
				}
				one <- t
			}()
		}
	}()
	return queue
}

// Extract writes the PTX in every module of a trace's folder beside it, as HASH.TARGET.ptx, and as HASH.TARGET.2.ptx and so on where
// a module has several texts for a target. A text that another module has, too, is there once, and a link.
func Extract(dir string) (Extracted, error) {
	var x Extracted
	entries, err := moduleFiles(dir)
	if err != nil {
		return x, err
	}
	queue := takeApart(dir, entries)
	defer func() {
		for range queue { // after an error
		}
	}()
	dir = filepath.Join(dir, ModulesDir)
	seen := map[[sha256.Size]byte]string{}
	used := map[string][sha256.Size]byte{} // names of this run
	for _, e := range entries {
		hash, ext, _ := strings.Cut(e.Name(), ".")
		x.Modules++
		t := <-<-queue
		if t.err != nil {
			return x, t.err
		}
		for _, p := range t.parts {
			if p.Text == "" {
				continue
			}
			sum := sha256.Sum256([]byte(p.Text))
			name := hash + "." + target(p) + ".ptx"
			for n := 2; ; n++ {
				if has, ok := used[name]; !ok || has == sum {
					break
				}
				name = hash + "." + target(p) + "." + strconv.Itoa(n) + ".ptx"
			}
			used[name] = sum
			first := seen[sum]
			if first == "" {
				x.Texts++
				seen[sum] = name
			}
			if len(t.parts) == 1 && ext == "ptx" { // the module is the text
				seen[sum] = e.Name()
				continue
			}
			if err := writeText(dir, name, first, p.Text); err != nil {
				return x, err
			}
		}
	}
	return x, nil
}

// target is the part of a file's name that tells texts of one module apart.
func target(p Part) string {
	if p.Target == "" {
		return "any"
	}
	return p.Target
}

func writeText(dir, name, first, text string) error {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil {
		return nil // of a run before
	}
	if first != "" {
		return os.Symlink(first, path)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
