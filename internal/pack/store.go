package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pierrec/lz4/v4"
	"golang.org/x/sys/unix"

	"kudzu/internal/config"
)

// The files of a pack, in STORE/LIBRARY/VERSION.
const indexFile, dataFile = "index", "data"

// Dir is the folder of the store: KUDZU_PACK_DIR, else below the folder for the user's data. Empty: there is none, because
// nothing says whose data.
func Dir() string {
	if dir := config.Get(config.PackDir); dir != "" {
		return dir
	}
	if dir := config.Get("XDG_DATA_HOME"); filepath.IsAbs(dir) { // the standard says to ignore a relative one
		return filepath.Join(dir, "kudzu", "packs")
	}
	if home := config.Get("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "kudzu", "packs")
	}
	return ""
}

// Pack is a pack of the store.
type Pack struct {
	Name
	From    string // the file that it was made of
	Modules int
	Kernels int
	Bytes   int64 // on disk
	dir     string
	data    os.FileInfo // of the file that the index is of
	index   *index
	byKey   map[string][]place
}

// place is a kernel of a pack.
type place struct{ module, kernel int }

// trusted refuses a pack that others than the user can write, or whose folders they can put another in: what is in it runs with the
// user's rights. Nobody takes another's folder out of one with the sticky bit.
func trusted(dir string) error {
	for _, at := range []struct {
		path   string
		sticky bool // may be shared
	}{
		{filepath.Dir(filepath.Dir(dir)), true}, {filepath.Dir(dir), true}, {dir, false},
		{filepath.Join(dir, indexFile), false}, {filepath.Join(dir, dataFile), false},
	} {
		var st unix.Stat_t
		if err := unix.Stat(at.path, &st); err != nil {
			return fmt.Errorf("%s: %w", at.path, err)
		}
		shared := st.Mode&0o022 != 0 && !(at.sticky && st.Mode&unix.S_ISVTX != 0)
		if int(st.Uid) != os.Geteuid() && st.Uid != 0 || shared {
			return fmt.Errorf("%s can be written by others", at.path)
		}
	}
	return nil
}

// maxIndex bounds an index; PyTorch's is 10 MB.
const maxIndex = 256 << 20

// open reads a pack's index.
func open(dir string) (*Pack, error) {
	if err := trusted(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, indexFile)
	data, err := os.Stat(filepath.Join(dir, dataFile))
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() > maxIndex {
		return nil, bad("an index of %d bytes", st.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	x, err := readIndex(string(b))
	if err != nil {
		return nil, err
	}
	if again, err := os.Stat(filepath.Join(dir, dataFile)); err != nil || !sameFile(data, again) {
		return nil, errReplaced
	}
	p := &Pack{Name: x.name, From: x.from, Modules: len(x.modules), dir: dir, data: data, index: x, Bytes: st.Size() + data.Size(), byKey: map[string][]place{}}
	for i := range x.modules {
		p.Kernels += len(x.modules[i].kernels)
		for k, s := range x.modules[i].kernels {
			key := Key(s.name)
			p.byKey[key] = append(p.byKey[key], place{i, k})
		}
	}
	return p, nil
}

// errReplaced is about a pack that was added again while this process uses it: its index is in memory, and of the old data. The
// file is not held open: programs close descriptors that they do not know.
var errReplaced = errors.New("it was replaced since this program began: start the program again")

// sameFile says that nobody has written or replaced a file.
func sameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// text is a module's PTX.
func (p *Pack) text(i int) (string, error) {
	m := p.index.modules[i]
	f, err := os.Open(filepath.Join(p.dir, dataFile))
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !sameFile(p.data, st) {
		return "", errReplaced
	}
	if m.packed > uint64(st.Size()) || m.at > uint64(st.Size())-m.packed || m.packed > m.size || m.size > m.packed*255+16 {
		return "", bad("module %d is %d bytes at %d", i, m.packed, m.at)
	}
	b := make([]byte, m.packed)
	if _, err := f.ReadAt(b, int64(m.at)); err != nil {
		return "", err
	}
	if m.packed == m.size {
		return string(b), nil
	}
	out := make([]byte, m.size)
	if n, err := lz4.UncompressBlock(b, out); err != nil || uint64(n) != m.size {
		return "", bad("module %d: %d of %d bytes, %v", i, n, m.size, err)
	}
	return string(out), nil
}

// Find is the pack for a library; nil if the store has none.
func Find(n Name) (*Pack, error) {
	dir := Dir()
	if dir == "" || !n.valid() {
		return nil, nil
	}
	p, err := open(filepath.Join(dir, n.Library, n.Version))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", n, err)
	}
	return p, nil
}

// valid says that both parts can be the names of folders.
func (n Name) valid() bool {
	for _, s := range []string{n.Library, n.Version} {
		if s == "" || s[0] == '.' || strings.ContainsAny(s, "/\t\n\x00") {
			return false
		}
	}
	return true
}

// List is every pack of the store, and what is wrong with those that cannot be read.
func List() (packs []*Pack, damaged []error) {
	if Dir() == "" {
		return nil, nil
	}
	for _, dir := range below(below([]string{Dir()})) {
		p, err := open(dir)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		packs = append(packs, p)
	}
	return packs, damaged
}

// below lists what is in folders, in order, but not what is being made.
func below(dirs []string) (out []string) {
	for _, dir := range dirs {
		list, err := os.ReadDir(dir)
		if err != nil { // a file, or gone
			continue
		}
		for _, e := range list {
			if !strings.HasPrefix(e.Name(), ".") {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out
}

// Remove takes a pack out of the store.
func Remove(n Name) error {
	if Dir() == "" || !n.valid() {
		return fs.ErrNotExist
	}
	dir := filepath.Join(Dir(), n.Library, n.Version)
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(dir)) // stays if it has another version
	return nil
}

// Any reports whether this process's user has packs at all: without, a module with machine code only costs nothing more.
func Any() bool {
	dir := Dir()
	if dir == "" {
		return false
	}
	dirs, err := os.ReadDir(dir)
	return err == nil && len(dirs) > 0
}
