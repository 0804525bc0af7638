package devrt

import (
	_ "embed"
	"strings"
)

//go:embed cg.ptx
var groups string

// Groups is the PTX of the functions that cooperative groups call in the device runtime, for a link whose inputs use them; "" if none
// of the texts names one. On every backend: where a driver has them, its linker does.
func Groups(texts ...string) string {
	for _, t := range texts {
		if strings.Contains(t, "cudaCG") {
			return groups
		}
	}
	return ""
}
