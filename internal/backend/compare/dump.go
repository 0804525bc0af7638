package compare

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/lazyre"
	"kudzu/internal/logx"
)

// Dumped is a launch as it was dumped: this as launch.json, the kernel's text as kernel.ptx, and the memory before it, one region
// after the other, as memory.
type Dumped struct {
	Line    *Line
	Launch  backend.Launch
	Regions [][2]uint64       // address and bytes
	Vars    map[string]uint64 // where the module's variables were
}

var unusual = lazyre.New(`[^\w.-]+`)

// dump writes a launch so that it can be run again.
func (b *Backend) dump(k *kernel, l *backend.Launch, line *Line, im image) {
	name := unusual().ReplaceAllString(k.Name(), "_")
	dir := filepath.Join(b.cfg.Dump, fmt.Sprintf("%.60s-%s-%dx%dx%d", name, k.hash, l.Block[0], l.Block[1], l.Block[2]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		logx.Warnf(config.CompareDump+": %v", err)
		return
	}
	line.Dump = dir
	d := Dumped{Line: line, Launch: *l, Vars: map[string]uint64{}}
	for i := range k.p.m.Vars {
		if a, _, err := k.p.Var(k.p.m.Vars[i].Name); err == nil {
			d.Vars[k.p.m.Vars[i].Name] = uint64(a)
		}
	}
	if err := d.write(dir, k.slice(), im); err != nil {
		logx.Warnf(config.CompareDump+": %v", err)
	}
}

func (d *Dumped) write(dir, text string, im image) error {
	f, err := os.Create(filepath.Join(dir, "memory"))
	if err != nil {
		return err
	}
	defer f.Close()
	for i := range im {
		d.Regions = append(d.Regions, [2]uint64{im[i].base, uint64(len(im[i].before))})
		if _, err := f.Write(im[i].before); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.ptx"), []byte(text), 0o644); err != nil {
		return err
	}
	b, err := json.MarshalIndent(d, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "launch.json"), b, 0o644)
}
