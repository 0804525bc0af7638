package trace

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Extracted is what Extract found.
type Extracted struct {
	Modules int // files as programs gave them
	Texts   int // different texts of PTX, in modules or of their own
}

// Extract writes the PTX in every module of a trace's folder beside it, as HASH.TARGET.ptx, and as HASH.TARGET.2.ptx and so on where
// a module has several texts for a target. A text that another module has, too, is there once, and a link.
func Extract(dir string) (Extracted, error) {
	var x Extracted
	dir = filepath.Join(dir, ModulesDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return x, err
	}
	seen := map[[sha256.Size]byte]string{}
	used := map[string][sha256.Size]byte{} // names of this run
	for _, e := range entries {
		hash, ext, _ := strings.Cut(e.Name(), ".")
		if !e.Type().IsRegular() || !plain(hash) || !plain(ext) { // ext has a dot where we wrote it
			continue
		}
		x.Modules++
		path := filepath.Join(dir, e.Name())
		if st, err := e.Info(); err != nil || st.Size() > maxModule {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return x, err
		}
		parts, err := Parts(b)
		if err != nil {
			continue // not everything that is loaded is code
		}
		for _, p := range parts {
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
			if len(parts) == 1 && ext == "ptx" { // the module is the text
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
