package backend

import (
	"fmt"
	"strings"
)

// Order is the order in which the blocks of a launch begin, or its clusters. The zero value is forward.
type Order struct {
	Reverse bool
	Random  bool
	Seed    uint64
}

// ParseOrder reads forward, reverse or random:SEED.
func ParseOrder(s string) (o Order, err error) {
	name, seed, ok := strings.Cut(s, ":")
	switch {
	case name == "forward" && !ok:
	case name == "reverse" && !ok:
		o.Reverse = true
	case name == "random":
		o.Random = true
		if ok {
			_, err = fmt.Sscanf(seed, "%d", &o.Seed)
		}
	default:
		err = fmt.Errorf("order %q is not forward, reverse or random:SEED", s)
	}
	return o, err
}
