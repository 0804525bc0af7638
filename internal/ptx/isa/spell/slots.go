package spell

import (
	"sync"

	"kudzu/internal/ptx/isa"
)

// slots are the names of the slots of each operation's forms.
var slots = sync.OnceValue(func() *[isa.NumOps]map[string]bool {
	all := new([isa.NumOps]map[string]bool)
	for _, c := range isa.Chapters() {
		for _, f := range c.Forms {
			if all[f.Op] == nil {
				all[f.Op] = map[string]bool{}
			}
			for _, s := range f.Slots() {
				all[f.Op][s.Name] = true
			}
		}
	}
	return all
})

// HasSlot reports whether some form of op has a slot called name.
func HasSlot(op isa.Op, name string) bool { return slots()[op][name] }
