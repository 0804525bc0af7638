package pack

import (
	"maps"
	"slices"

	"kudzu/internal/fatbin"
	"kudzu/internal/lockrank"
	"kudzu/internal/logx"
)

// inUse are the packs that this process has opened, by file: a library has hundreds of modules.
var inUse struct {
	mu      lockrank.Mutex[lockrank.Packs]
	byFile  map[string]*Pack
	refused map[string]string // by kernel: why it is in no module of a pack
}

// For is the text that the store has for machine code of a file; false if it has none. What a pack refuses can be asked by WhyNot.
func For(file string, cs []*fatbin.Container, code []byte) (string, bool) {
	p := packOf(file)
	if p == nil {
		return "", false
	}
	var m *Match
	if code != nil {
		m = p.MatchFile(code)
	} else {
		m = p.Match(cs)
	}
	text, ok, err := m.Text()
	if err != nil {
		logx.Once("pack "+p.Name.String(), "%v", err)
		return "", false
	}
	inUse.mu.Lock()
	for name, why := range m.Refused {
		inUse.refused[name] = "pack " + p.Name.String() + ": " + why
	}
	inUse.mu.Unlock()
	if !ok && m.Kernels > 0 { // programs that do not look at errors would go on without a word
		first := slices.Min(slices.Collect(maps.Keys(m.Refused)))
		logx.Once("no module "+first, "pack %s has none of the %d kernels of a module, such as %s: they cannot run", p.Name, m.Kernels, first)
	}
	logx.Debugf("pack %s: %d of %d kernels of a module of %s", p.Name, m.Found, m.Kernels, file)
	return text, ok
}

// packOf opens the pack for a file, once.
func packOf(file string) *Pack {
	if file == "" {
		return nil
	}
	inUse.mu.Lock()
	defer inUse.mu.Unlock()
	if p, known := inUse.byFile[file]; known {
		return p
	}
	if inUse.byFile == nil {
		inUse.byFile, inUse.refused = map[string]*Pack{}, map[string]string{}
	}
	name := NameOf(file)
	p, err := Find(name)
	if err != nil {
		logx.Warnf("%v", err)
		p = nil
	}
	if p == nil {
		logx.Debugf("no pack for %s (%s)", name, file)
	}
	inUse.byFile[file] = p
	return p
}

// WhyNot says why a kernel is not in any module that a pack made; empty if none was asked for it.
func WhyNot(kernel string) string {
	inUse.mu.Lock()
	defer inUse.mu.Unlock()
	return inUse.refused[kernel]
}
