package again

import "kudzu/internal/hostmem"

// Fault is a Plant for tests: it turns a high bit of the first number that a call wrote, which no rounding explains.
func Fault(_ *Call, written []Span) (undo func()) {
	if len(written) == 0 {
		return func() {}
	}
	s := written[0]
	b := hostmem.Bytes(hostmem.Ptr(s.At), s.Bytes)
	at := s.Unit - 1
	was := b[at]
	if b[at] ^= 0x40; was&0x40 != 0 { // an exponent's highest bit: without it the number would be near 0, which may be near enough
		b[at] = was ^ 0x20
	}
	return func() { b[at] = was }
}
