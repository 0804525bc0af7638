package hip

import "unsafe"

const longestName = 128

// cstring reads a text that the library keeps.
func cstring(p uintptr) string {
	var b []byte
	for q := *(*unsafe.Pointer)(unsafe.Pointer(&p)); len(b) < longestName; q = unsafe.Add(q, 1) {
		c := *(*byte)(q)
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}
