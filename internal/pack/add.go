package pack

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pierrec/lz4/v4"
	"golang.org/x/sys/unix"

	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/ptx"
)

// Adder writes a pack: module by module, then Done or Drop.
type Adder struct {
	x    index
	tmp  string
	dir  string
	data *os.File
	at   uint64
}

// Begin begins a pack. It takes the place of one of the same name when it is done.
func Begin(n Name, from string) (*Adder, error) {
	store := Dir()
	switch {
	case store == "":
		return nil, fmt.Errorf("no folder for packs: neither KUDZU_PACK_DIR nor HOME is set")
	case !n.valid():
		return nil, fmt.Errorf("%q cannot be the name of a pack", n.String())
	}
	dir := filepath.Join(store, n.Library)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return nil, err
	}
	a := &Adder{x: index{name: n, from: from}, tmp: tmp, dir: filepath.Join(dir, n.Version)}
	if a.data, err = create(filepath.Join(tmp, dataFile)); err != nil {
		a.Drop()
		return nil, err
	}
	return a, nil
}

// create is for the user only, whatever the umask: trusted refuses what a group can write.
func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// Container adds the PTX of a fat binary, the best for a device; one without is passed over.
func (a *Adder) Container(c *fatbin.Container, sm int) error {
	pick, err := fatbin.Choose([]*fatbin.Container{c}, sm)
	if err != nil {
		return nil // machine code only, or damaged: nothing to take
	}
	return a.Module(string(bytes.TrimRight(pick.Text, "\x00")))
}

// Module adds a text.
func (a *Adder) Module(text string) error {
	x, err := ptx.IndexModule(text)
	if err != nil {
		return err
	}
	m := module{at: a.at, size: uint64(len(text))}
	for _, k := range x.Kernels() {
		var l layout
		for _, p := range k.Params {
			l = append(l, cubin.Param{Offset: uint32(p.Offset), Size: uint32(p.Size)})
		}
		m.kernels = append(m.kernels, symbol{k.Name, l.String()})
	}
	vars, err := x.Vars()
	if err != nil {
		return err
	}
	for _, v := range vars {
		if v.Space == ptx.SpaceGlobal || v.Space == ptx.SpaceConst {
			m.vars = append(m.vars, symbol{v.Name, strconv.FormatUint(uint64(v.Size), 10)})
		}
	}
	if len(m.kernels) == 0 {
		return nil
	}
	packed := make([]byte, lz4.CompressBlockBound(len(text)))
	n, err := lz4.CompressBlock([]byte(text), packed, nil)
	if err != nil {
		return err
	}
	packed = packed[:n]
	if n == 0 || n >= len(text) { // does not shrink
		packed = []byte(text)
	}
	if _, err := a.data.Write(packed); err != nil {
		return err
	}
	m.packed = uint64(len(packed))
	a.at += m.packed
	a.x.modules = append(a.x.modules, m)
	return nil
}

// Modules and Kernels are what was added so far.
func (a *Adder) Modules() int { return len(a.x.modules) }

// Kernels counts them.
func (a *Adder) Kernels() (n int) {
	for _, m := range a.x.modules {
		n += len(m.kernels)
	}
	return n
}

// Drop leaves the store as it was.
func (a *Adder) Drop() {
	if a.data != nil {
		_ = a.data.Close()
	}
	_ = os.RemoveAll(a.tmp)
	_ = os.Remove(filepath.Dir(a.tmp)) // stays if it has something else
}

// Done puts the pack into the store.
func (a *Adder) Done() error {
	f, err := create(filepath.Join(a.tmp, indexFile))
	if err != nil {
		return err
	}
	if err := a.x.write(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := a.data.Close(); err != nil {
		return err
	}
	// Programs that look for the pack meanwhile find the old one or the new one.
	err = unix.Renameat2(unix.AT_FDCWD, a.tmp, unix.AT_FDCWD, a.dir, unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		return os.RemoveAll(a.tmp)
	case err != unix.ENOENT: // a file system that cannot
		if err := os.RemoveAll(a.dir); err != nil {
			return err
		}
	}
	return os.Rename(a.tmp, a.dir)
}

// layout is where a kernel's parameters are, from the first one on: machine code counts from the start of its constant bank, where
// a first parameter that wants much alignment does not stand.
type layout []cubin.Param

// String is "0:8 8:4": offset and size of each.
func (l layout) String() string {
	var b strings.Builder
	for i, p := range l {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d:%d", p.Offset-l[0].Offset, p.Size)
	}
	return b.String()
}
