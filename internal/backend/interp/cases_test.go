package interp

import (
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/ptx"
	"kudzu/internal/testkit"
)

// moduleOf describes a PTX text as the driver does.
func moduleOf(text string) (*backend.Module, error) {
	x, err := ptx.IndexModule(text)
	if err != nil {
		return nil, err
	}
	m := &backend.Module{Name: "test", Text: text, Slice: func(kernel string) (string, func(int) int, error) {
		s, err := x.Slice(kernel)
		if err != nil {
			return "", nil, err
		}
		return s.Text, s.Line, nil
	}}
	for _, f := range x.Kernels() {
		k := backend.KernelDecl{Name: f.Name}
		for _, p := range f.Params {
			k.Params = append(k.Params, backend.ParamDecl{Name: p.Name, Offset: int(p.Offset), Size: int(p.Size), Align: p.Align})
			k.ParamBytes = max(k.ParamBytes, int(p.Offset+p.Size))
		}
		m.Kernels = append(m.Kernels, k)
	}
	vars, err := x.Vars()
	if err != nil {
		return nil, err
	}
	for _, v := range vars {
		if v.Space != ptx.SpaceGlobal && v.Space != ptx.SpaceConst {
			continue
		}
		d := backend.VarDecl{Name: v.LinkName(), Const: v.Space == ptx.SpaceConst, Size: v.Size, Align: uint64(v.Align)}
		if v.Init != nil {
			d.Init = v.Init.Bytes
			for _, r := range v.Init.Relocs {
				d.Relocs = append(d.Relocs, backend.VarReloc{Offset: r.Offset, Size: r.Size, Symbol: r.Target(), Addend: r.Addend, Mask: r.Mask})
			}
		}
		m.Vars = append(m.Vars, d)
	}
	return m, nil
}

func open(t testing.TB, cfg Config) backend.Device {
	t.Helper()
	devs, err := New(cfg).Open()
	if err != nil {
		t.Fatal(err)
	}
	return devs[0]
}

// TestCases runs every shared behaviour case, and those of forms that only this backend executes so far, and compares with
// the values recorded on hardware.
func TestCases(t *testing.T) {
	dev := open(t, Config{})
	for _, root := range []string{filepath.Join("..", "..", "..", "testdata", "cases"), filepath.Join("testdata", "cases")} {
		cases, err := testkit.Load(root)
		if err != nil {
			t.Fatal(err)
		}
		if len(cases) == 0 {
			t.Fatalf("no cases in %s", root)
		}
		for _, c := range cases {
			rel, _ := filepath.Rel(root, c.Path)
			t.Run(strings.TrimSuffix(rel, ".txtar"), func(t *testing.T) {
				out, err := c.Execute(dev, moduleOf)
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range c.Runs {
					if err := r.Compare(out[i]); err != nil {
						t.Errorf("run %d: %s: %v", i+1, r.Kernel, err)
					}
				}
			})
		}
	}
}
