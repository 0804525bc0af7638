package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// Products of a big matrix and few vectors read the big one once, where it lies (kernels/skinny.cu).

const (
	few      = 16 // FEW of kernels/skinny.cu
	dotsStep = 24 // of the big matrix's rows that a block takes, times a number: 3 and 8 are what its kernels take at a time
)

// slimRows are the rows that a block of slim takes, of one vector and of several.
var slimRows = map[Elem][2]int64{F32: {256, 192}, F64: {128, 96}, C32: {96, 96}, C64: {48, 48}}

// skinny is such a product as the kernels see it: distances in elements.
type skinny struct {
	big, small               View
	deep                     bool  // k of the big one lies together
	outer, few               int64 // rows of the big one, and vectors
	next, smallAt, smallNext int64
	along, across, per       int64
	conjugated               uint32 // 1 the big one, 2 the vectors
}

// skinny is the product in that form; ok: it is one.
func (p *Product) skinny() (s skinny, ok bool) {
	if min(p.M, p.N) > few || !p.Plain() || p.Batch > maxGrid {
		return s, false
	}
	turnA, turnB := p.A.Op != blas.CUBLAS_OP_N, p.B.Op != blas.CUBLAS_OP_N
	sides := func(v View, turned bool) (k, other int64) {
		if turned {
			return v.LD, 1
		}
		return 1, v.LD
	}
	if p.N <= p.M {
		s = skinny{big: p.A, small: p.B, deep: turnA, outer: p.M, few: p.N, next: p.A.LD, along: 1, across: p.C.LD}
		s.smallNext, s.smallAt = sides(p.B, turnB)
	} else {
		s = skinny{big: p.B, small: p.A, deep: !turnB, outer: p.N, few: p.M, next: p.B.LD, along: p.C.LD, across: 1}
		s.smallAt, s.smallNext = sides(p.A, turnA)
	}
	if s.big.Op == blas.CUBLAS_OP_C {
		s.conjugated |= 1
	}
	if s.small.Op == blas.CUBLAS_OP_C {
		s.conjugated |= 2
	}
	if s.deep {
		_, ok = skinnyTypes[[3]Elem{p.TA, p.Sum, p.TC}]
		return s, ok && s.few*p.K*p.Batch*int64(p.TA.Size()) <= maxPack
	}
	_, ok = slimRows[p.TA]
	return s, ok && p.TC == p.TA
}

// skinnyTypes are those of A and B, of sums, and of C that kernels/skinny.cu has dots for.
var skinnyTypes = map[[3]Elem]string{
	{F32, F32, F32}: "f32_f32", {F64, F64, F64}: "f64_f64", {F16, F32, F16}: "f16_f16", {F16, F32, F32}: "f16_f32",
	{BF16, F32, BF16}: "bf16_bf16", {BF16, F32, F32}: "bf16_f32", {C32, C32, C32}: "c32_c32", {C64, C64, C64}: "c64_c64",
}

// thin puts the kernels of a skinny product in.
func (p *Product) thin(d *driver.Thread, stream cu.CUstream, space *shim.Workspace, s *skinny) error {
	kind, which := "one_", 0
	if s.few > 1 {
		kind, which = "some_", 1
	}
	if !s.deep {
		rows := slimRows[p.TA][which]
		switch {
		case p.TA == C32 || p.TA == C64: // one kernel for all
			kind = ""
		case s.few == 2:
			kind = "two_"
		case s.few > 2:
			kind = "many_"
		}
		return p.launchThin(d, stream, "slim_"+kind+p.TA.String(), s, (s.outer+rows-1)/rows)
	}
	if s.smallNext != 1 || p.TA == C32 || p.TA == C64 {
		space.Hold()
		defer space.Release()
		if err := p.turn(d, stream, space, s); err != nil {
			return err
		}
	}
	workers, err := processors(d)
	if err != nil {
		return err
	}
	s.per = max(1, s.outer*p.Batch/(8*workers*dotsStep)) * dotsStep
	return p.launchThin(d, stream, "dots_"+kind+skinnyTypes[[3]Elem{p.TA, p.Sum, p.TC}], s, (s.outer+s.per-1)/s.per)
}

// turn lays the few vectors into memory of the handle, k of each together.
func (p *Product) turn(d *driver.Thread, stream cu.CUstream, space *shim.Workspace, s *skinny) error {
	count, vector := p.Batch, p.K
	if p.TA == C32 || p.TA == C64 { // each twice: turnPairs
		vector *= 2
	}
	each := s.few * vector
	if !s.small.List && s.small.Stride == 0 {
		count, each = 1, 0
	}
	at, err := space.Take(d, stream, uint64(s.few*vector*count)*uint64(p.TA.Size()))
	if err != nil {
		return err
	}
	var q shim.Params
	s.small.Put(&q)
	q.U64(uint64(at), uint64(each), uint64(s.smallAt), uint64(s.smallNext)).U32(uint32(s.few), uint32(p.K), 0)
	if err := skinnyKernels.Launch(d, stream, "turn_"+p.TA.String(), [3]uint32{uint32((p.K + 31) / 32), 1, uint32(count)}, [3]uint32{32, 1, 1}, &q); err != nil {
		return err
	}
	s.small, s.smallAt, s.smallNext = View{Base: uint64(at), Stride: each}, vector, 1
	return nil
}

func (p *Product) launchThin(d *driver.Thread, stream cu.CUstream, name string, s *skinny, blocks int64) error {
	var q shim.Params
	s.big.Put(&q)
	s.small.Put(&q)
	p.C.Put(&q)
	p.Alpha.Put(&q)
	p.Beta.Put(&q)
	q.U64(uint64(s.next), uint64(s.smallAt), uint64(s.smallNext), uint64(s.along), uint64(s.across))
	q.U32(uint32(s.outer), uint32(s.few), uint32(p.K), s.conjugated, uint32(s.per), 0)
	return skinnyKernels.Launch(d, stream, name, [3]uint32{uint32(blocks), 1, uint32(p.Batch)}, [3]uint32{32, 1, 1}, &q)
}
