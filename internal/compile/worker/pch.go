package worker

import "encoding/binary"

// A precompiled header of CUDA C++ lists every function of the device that it defines, to be looked at again for mistakes that only
// count if the function is emitted (clang's deferred diagnostics). A program that includes it reads them all because of that, which is
// more than half of the work for a small one. Ours have no such mistakes, so the list is given a number that clang no longer uses and
// skips.
const (
	astBlock      = 8  // the block that has it, and nearly everything
	deferredDecls = 64 // the list's number
	unusedRecord  = 44
	newestPCH     = 22 // the last release of clang whose numbers are known to be these
)

// The abbreviations that every block of an LLVM bitstream has.
const (
	endBlock = iota
	enterBlock
	defineAbbrev
	plainRecord
	firstAbbrev
)

// The encodings of an abbreviation's operand.
const (
	literalOp = iota
	fixedOp
	vbrOp
	arrayOp
	char6Op
	blobOp
)

// abbrevOp is an operand.
type abbrevOp struct {
	kind  int
	value uint64
}

// bits reads a bitstream. Reading past its end gives zeros, and bad.
type bits struct {
	b   []byte
	at  uint64
	bad bool
}

func (s *bits) fixed(n uint64) uint64 {
	if n > 64 || s.at+n > uint64(len(s.b))*8 {
		s.bad = true
		return 0
	}
	var v uint64
	for i := range n {
		v |= uint64(s.b[(s.at+i)/8]>>((s.at+i)%8)&1) << i
	}
	s.at += n
	return v
}

func (s *bits) vbr(n uint64) uint64 {
	var v uint64
	for shift := uint64(0); shift < 64 && !s.bad; shift += n - 1 {
		c := s.fixed(n)
		v |= c & (1<<(n-1) - 1) << shift
		if c>>(n-1) == 0 {
			break
		}
	}
	return v
}

func (s *bits) align() { s.at = (s.at + 31) &^ 31 }

// skip leaves out n bits.
func (s *bits) skip(n uint64) {
	if n > uint64(len(s.b))*8 || s.at+n > uint64(len(s.b))*8 {
		s.bad = true
		return
	}
	s.at += n
}

// abbreviation reads a definition.
func (s *bits) abbreviation() []abbrevOp {
	var ops []abbrevOp
	for range min(s.vbr(5), 1<<10) {
		switch {
		case s.fixed(1) == 1:
			ops = append(ops, abbrevOp{literalOp, s.vbr(8)})
		default:
			op := abbrevOp{kind: int(s.fixed(3))}
			if op.kind == fixedOp || op.kind == vbrOp {
				op.value = s.vbr(5)
			}
			ops = append(ops, op)
		}
	}
	return ops
}

// operand passes over one value.
func (s *bits) operand(o abbrevOp) {
	switch o.kind {
	case literalOp:
	case fixedOp:
		s.skip(o.value)
	case vbrOp:
		if o.value < 2 {
			s.bad = s.bad || o.value != 0
			return
		}
		s.vbr(o.value)
	case char6Op:
		s.skip(6)
	default:
		s.bad = true
	}
}

// record passes over a record that is abbreviated.
func (s *bits) record(ops []abbrevOp) {
	for i := 0; i < len(ops) && !s.bad; i++ {
		switch ops[i].kind {
		case arrayOp:
			n := s.vbr(6)
			if i+1 >= len(ops) || n > uint64(len(s.b))*8 {
				s.bad = true
				return
			}
			for range n {
				s.operand(ops[i+1])
			}
			i++
		case blobOp:
			n := s.vbr(6)
			s.align()
			s.skip(min(n, 1<<40) * 8)
			s.align()
		default:
			s.operand(ops[i])
		}
	}
}

// withoutDeferred takes the list out of a precompiled header, in place. It reports whether it was there.
func withoutDeferred(pch []byte) bool {
	s := &bits{b: pch, at: 32} // behind the magic number
	for !s.bad && s.at+32 <= uint64(len(pch))*8 {
		if s.fixed(2) != enterBlock {
			return false
		}
		id, width := s.vbr(8), s.vbr(4)
		s.align()
		words := s.fixed(32)
		if id == astBlock {
			return s.dropDeferred(width)
		}
		s.skip(words * 32)
	}
	return false
}

// dropDeferred goes through the block.
func (s *bits) dropDeferred(width uint64) bool {
	var abbrevs [][]abbrevOp
	for !s.bad {
		switch id := s.fixed(width); id {
		case endBlock:
			return false
		case enterBlock:
			s.vbr(8)
			s.vbr(4)
			s.align()
			s.skip(s.fixed(32) * 32)
		case defineAbbrev:
			abbrevs = append(abbrevs, s.abbreviation())
		case plainRecord:
			at := s.at
			if s.vbr(6) == deferredDecls {
				s.renumber(at)
				return true
			}
			for range s.vbr(6) {
				if s.vbr(6); s.bad {
					break
				}
			}
		default:
			if id-firstAbbrev >= uint64(len(abbrevs)) {
				return false
			}
			s.record(abbrevs[id-firstAbbrev])
		}
	}
	return false
}

// renumber writes unusedRecord over deferredDecls: both take two chunks of six bits.
func (s *bits) renumber(at uint64) {
	const chunk = unusedRecord&31 | 32 | unusedRecord>>5<<6
	var word [4]byte
	copy(word[:], s.b[at/8:min(at/8+4, uint64(len(s.b)))])
	v := binary.LittleEndian.Uint32(word[:])
	v = v&^(0xfff<<(at%8)) | chunk<<(at%8)
	binary.LittleEndian.PutUint32(word[:], v)
	copy(s.b[at/8:min(at/8+4, uint64(len(s.b)))], word[:])
}
