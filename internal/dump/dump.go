// Package dump is one launch of a kernel in a file: what it was given, and the memory that it could reach before and after. Such a file
// is made by `kudzu dump` and `kudzu compare` and read by `kudzu replay`.
//
// The file is a zip archive:
//
//	launch.json    Launch
//	kernel.ptx     the kernel and what it reaches
//	params         the block of parameters
//	textures       the objects that it could reach, as backend.Texture
//	before/N       memory of region N before the launch
//	after/N        and after it, where it changed
//
// A file may come from anywhere: Read believes nothing that it has not checked, and takes no more memory than the limit it is given.
package dump

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kudzu/internal/backend"
)

// Version is that of files written now. Older ones would be read; there are none.
const Version = 1

// Launch is what launch.json has.
type Launch struct {
	Version    int       `json:"version"`
	Kernel     string    `json:"kernel"`
	Program    string    `json:"program,omitempty"` // that was running
	Backend    string    `json:"backend"`
	Device     string    `json:"device"`
	Capability [2]int    `json:"capability"`
	Number     int       `json:"number,omitempty"` // of the launches that were asked for, from 1
	Grid       [3]uint32 `json:"grid"`
	Block      [3]uint32 `json:"block"`
	Cluster    [3]uint32 `json:"cluster,omitzero"`
	Shared     uint32    `json:"shared,omitempty"` // dynamic, bytes a block
	// Cooperative: all blocks run at the same time.
	Cooperative bool                `json:"cooperative,omitempty"`
	Params      []backend.ParamDecl `json:"params,omitempty"`
	Options     backend.Options     `json:"options"`
	Regions     []Region            `json:"regions"`
	Textures    []backend.Texture   `json:"-"`                // in a part of their own: JSON has no infinities
	All         bool                `json:"all,omitempty"`    // all memory of the process is there, not only what was found to be reachable
	Fault       string              `json:"fault,omitempty"`  // that ended the launch
	Kind        uint8               `json:"kind,omitempty"`   // of the fault
	Unread      bool                `json:"unread,omitempty"` // memory afterwards is not known
	Notes       []string            `json:"notes,omitempty"`  // what is not in the file
}

// Region is one allocation or one variable.
type Region struct {
	Base  uint64 `json:"base"`
	Size  uint64 `json:"size"`
	Var   string `json:"var,omitempty"` // of the module
	Const bool   `json:"const,omitempty"`
	// Changed: the launch left other bytes than it found.
	Changed bool `json:"changed,omitempty"`
}

// File is a dump.
type File struct {
	Launch
	PTX    string
	Values []byte // the block of parameters
	Before [][]byte
	After  [][]byte // as Before where Changed is not set
}

// Same reports memory of a region that the launch left as it was.
func (f *File) Same(i int) bool { return !f.Regions[i].Changed }

// Bytes is how much memory the regions are.
func (f *File) Bytes() (n uint64) {
	for i := range f.Regions {
		n += f.Regions[i].Size
	}
	return n
}

// Threads is how many there are in the grid.
func (f *File) Threads() uint64 {
	n := uint64(1)
	for i := range 3 {
		n *= uint64(f.Grid[i]) * uint64(f.Block[i])
	}
	return n
}

// Arguments is the launch as backends take it.
func (f *File) Arguments() *backend.Launch {
	return &backend.Launch{Grid: f.Grid, Block: f.Block, Cluster: f.Cluster, DynamicShared: f.Shared, Cooperative: f.Cooperative, Params: slices.Clone(f.Values)}
}

// What a file may ask for at most.
const (
	maxRegions  = 1 << 16
	maxTextures = 1 << 16
	maxText     = 256 << 20
	maxJSON     = 16 << 20 // as Go's values it takes up to twenty times as much
	maxParams   = 1 << 16
	maxAddress  = 1 << 57
	maxCluster  = 16 // blocks
)

// check says what of a launch cannot be.
func (l *Launch) check(limit uint64) error {
	switch {
	case l.Version < 1 || l.Version > Version:
		return fmt.Errorf("version %d of the format is not known", l.Version)
	case l.Kernel == "":
		return fmt.Errorf("no kernel")
	case len(l.Regions) > maxRegions:
		return fmt.Errorf("%d regions", len(l.Regions))
	case len(l.Textures) > maxTextures:
		return fmt.Errorf("%d textures", len(l.Textures))
	}
	threads, blocks := uint64(1), uint64(1)
	for i := range 3 {
		if l.Grid[i] == 0 || l.Block[i] == 0 || l.Block[i] > 1024 || l.Grid[i] > 1<<31-1 || l.Cluster[i] > 64 {
			return fmt.Errorf("grid %v, block %v, cluster %v", l.Grid, l.Block, l.Cluster)
		}
		threads *= uint64(l.Block[i])
		if blocks > 1<<48/uint64(l.Grid[i]) {
			return fmt.Errorf("grid %v", l.Grid)
		}
		blocks *= uint64(l.Grid[i])
	}
	if threads > 1024 {
		return fmt.Errorf("block %v", l.Block)
	}
	if c := l.Cluster; c != [3]uint32{} && (c[0] == 0 || c[1] == 0 || c[2] == 0 || c[0]*c[1]*c[2] > maxCluster || l.Grid[0]%c[0]+l.Grid[1]%c[1]+l.Grid[2]%c[2] != 0) {
		return fmt.Errorf("grid %v, cluster %v", l.Grid, c)
	}
	var total uint64
	for i := range l.Regions {
		r := &l.Regions[i]
		if r.Size == 0 || r.Size > limit || r.Base == 0 || r.Base > maxAddress || r.Size > maxAddress-r.Base {
			return fmt.Errorf("region %d: %d bytes at %#x", i, r.Size, r.Base)
		}
		if total += r.Size; total > limit {
			return fmt.Errorf("more than %d bytes of memory", limit)
		}
	}
	if err := l.overlaps(); err != nil {
		return err
	}
	for i := range l.Params {
		p := &l.Params[i]
		if p.Offset < 0 || p.Size < 0 || p.Offset > maxParams || p.Size > maxParams {
			return fmt.Errorf("parameter %s: %d bytes at %d", p.Name, p.Size, p.Offset)
		}
	}
	find := NewFinder(l.Regions, nil)
	for i := range l.Textures {
		t := &l.Textures[i]
		if t.Levels > backend.MaxLevels || t.Kind < backend.TextureObject || t.Kind > backend.SamplerObject || t.Format > backend.FormatF32 || t.Channels > 4 || t.Dims > 3 {
			return fmt.Errorf("texture %d cannot be", i)
		}
		for k := range int(t.Levels) {
			if err := l.holds(t, k, find); err != nil {
				return fmt.Errorf("texture %d: %w", i, err)
			}
		}
	}
	return l.names()
}

// names refuses those that no text can have, and would do something to a terminal.
func (l *Launch) names() error {
	for i := range l.Params {
		if p := &l.Params[i]; Plain(p.Name) != p.Name {
			return fmt.Errorf("parameter %d: no name", i)
		}
	}
	for i := range l.Regions {
		if r := &l.Regions[i]; Plain(r.Var) != r.Var {
			return fmt.Errorf("region %d: no name", i)
		}
	}
	if Plain(l.Kernel) != l.Kernel {
		return fmt.Errorf("kernel: no name")
	}
	return nil
}

// Plain is a text of a stranger's in one line: control characters and such are escaped.
func Plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

// holds checks that a level of a texture lies inside a region: kernels do not check that.
func (l *Launch) holds(t *backend.Texture, k int, find *Finder) error {
	texel := uint64(t.Channels) * texelBytes[t.Format]
	h, d := uint64(max(1, t.Height[k])), uint64(max(1, t.Depth[k]))
	row := uint64(t.Width[k]) * texel
	const most = 1 << 40
	if t.Pitch[k] > most || t.Slice[k] > most || row > most {
		return fmt.Errorf("level %d: pitch %d, slice %d", k, t.Pitch[k], t.Slice[k])
	}
	over1, rows := bits.Mul64(h-1, t.Pitch[k])
	over2, slices := bits.Mul64(d-1, t.Slice[k])
	if i := find.At(t.Base[k]); i < 0 || over1+over2 != 0 || rows > 1<<62 || slices > 1<<62 || rows+slices+row > l.Regions[i].Size-(t.Base[k]-l.Regions[i].Base) {
		return fmt.Errorf("level %d lies outside of the memory that is there", k)
	}
	return nil
}

var texelBytes = [...]uint64{backend.FormatU8: 1, backend.FormatU16: 2, backend.FormatU32: 4, backend.FormatS8: 1, backend.FormatS16: 2, backend.FormatS32: 4, backend.FormatF16: 2, backend.FormatF32: 4}

// TexelBytes is the size of a texture's element.
func TexelBytes(t *backend.Texture) uint64 { return uint64(t.Channels) * texelBytes[t.Format] }

// overlaps refuses regions that share bytes.
func (l *Launch) overlaps() error {
	order := make([]int, len(l.Regions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if l.Regions[a].Base < l.Regions[b].Base {
			return -1
		}
		return 1
	})
	for k := 1; k < len(order); k++ {
		a, b := &l.Regions[order[k-1]], &l.Regions[order[k]]
		if a.Base+a.Size > b.Base {
			return fmt.Errorf("regions at %#x and %#x overlap", a.Base, b.Base)
		}
	}
	return nil
}
