package packed

import "unsafe"

// text is the bytes as a string, not copied: nobody else has them.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
