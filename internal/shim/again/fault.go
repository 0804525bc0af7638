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
	b[at] ^= 0x40
	return func() { b[at] = was }
}
