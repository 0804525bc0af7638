package rocsparse

import (
	"encoding/binary"

	"kudzu/internal/dl"
	"kudzu/internal/shim/cusparse"
	"kudzu/internal/spec/rocsparse"
	"kudzu/internal/spec/sparse"
)

// session is one call: its descriptors, the memory it wants, and what it does with them.
type session struct {
	p      *Provider
	c      *cusparse.Work
	matrix uint64
	vector uint64
	dense  []uint64
	size   uint64
	buffer uint64
	work   func(h uint64) error
	ends   []func()
}

// suits says that a call gives the same bits whenever it is made: rocSPARSE adds with atomics what it does not have
// by rows.
func suits(c *cusparse.Work) bool {
	switch c.Name {
	case "spmv", "spmm":
		plain := c.OpA == sparse.CUSPARSE_OPERATION_NON_TRANSPOSE
		return plain && (c.Sparse.Format == sparse.CUSPARSE_FORMAT_CSR || c.Sparse.Format == sparse.CUSPARSE_FORMAT_COO)
	case "sddmm":
		return c.Sparse.Format == sparse.CUSPARSE_FORMAT_CSR
	case "spsv", "spsm":
		return c.Sparse.Format == sparse.CUSPARSE_FORMAT_CSR || c.Sparse.Format == sparse.CUSPARSE_FORMAT_COO
	case "dense_to_sparse":
		return c.Sparse.Format != sparse.CUSPARSE_FORMAT_BLOCKED_ELL
	}
	return true
}

// functions by their names; each says what its session does, and asks for the size of its memory.
var functions = map[string]func(s *session, h uint64) error{
	"axpby": (*session).axpby, "gather": (*session).gather, "scatter": (*session).scatter, "rot": (*session).rot, "spvv": (*session).spvv,
	"spmv": (*session).spmv, "spmm": (*session).spmm, "sddmm": (*session).sddmm, "sparse_to_dense": (*session).toDense,
	"spsv": (*session).spsv, "spsm": (*session).spsm, "dense_to_sparse": (*session).toSparse,
}

// describe makes the descriptors.
func (s *session) describe(h uint64, make func(*session, uint64) error) error {
	if m := s.c.Sparse; m != nil {
		if err := s.sparse(m); err != nil {
			return err
		}
	}
	if v := s.c.Vector; v != nil {
		at, err := s.p.make(rocsparse.Rocsparse_create_spvec_descr, uint64(v.Size), uint64(v.Nnz), v.Indices, v.Values, uint64(v.Wide), uint64(v.Base), uint64(v.Type))
		if err != nil {
			return err
		}
		s.vector = at
		s.later(rocsparse.Rocsparse_destroy_spvec_descr, at)
	}
	for _, x := range s.c.Dense {
		f, g := rocsparse.Rocsparse_create_dnmat_descr, rocsparse.Rocsparse_destroy_dnmat_descr
		args := []uint64{uint64(x.Rows), uint64(x.Cols), uint64(x.LD), x.Values, uint64(x.Type), uint64(x.Order)}
		if x.Vector {
			f, g, args = rocsparse.Rocsparse_create_dnvec_descr, rocsparse.Rocsparse_destroy_dnvec_descr, []uint64{uint64(x.Rows), x.Values, uint64(x.Type)}
		}
		at, err := s.p.make(f, args...)
		if err != nil {
			return err
		}
		s.dense = append(s.dense, at)
		s.later(g, at)
	}
	return make(s, h)
}

func (s *session) sparse(m *cusparse.Sparse) (err error) {
	f, wide := rocsparse.Rocsparse_create_const_csr_descr, []uint64{uint64(m.WideOff), uint64(m.Wide)}
	lines := m.Offsets
	switch {
	case m.Format == sparse.CUSPARSE_FORMAT_CSR && (s.c.Name == "sddmm" || s.c.Name == "dense_to_sparse" || s.c.Name == "spsv" || s.c.Name == "spsm"): // it is written, or told its attributes
		f = rocsparse.Rocsparse_create_csr_descr
	case m.Format == sparse.CUSPARSE_FORMAT_CSC:
		f = rocsparse.Rocsparse_create_csc_descr
	case m.Format == sparse.CUSPARSE_FORMAT_COO:
		f, wide, lines = rocsparse.Rocsparse_create_coo_descr, wide[1:], m.Lines
	}
	args := append([]uint64{uint64(m.Rows), uint64(m.Cols), uint64(m.Nnz), lines, m.Indices, m.Values}, wide...)
	if s.matrix, err = s.p.make(f, append(args, uint64(m.Base), uint64(m.Type))...); err != nil {
		return err
	}
	s.later(rocsparse.Rocsparse_destroy_spmat_descr, s.matrix)
	return nil
}

// later ends a descriptor with the session.
func (s *session) later(f rocsparse.Func, at uint64) {
	s.ends = append(s.ends, func() { _ = s.p.call(f, at) })
}

func (s *session) end() {
	for _, f := range s.ends {
		f()
	}
}

// asks runs a call that writes the size of its memory.
func (s *session) asks(ask func(size uint64) error) error {
	out := dl.Alloc(8)
	defer out.Free()
	if err := ask(uint64(out.Addr())); err != nil {
		return err
	}
	s.size = binary.LittleEndian.Uint64(out.Bytes())
	return nil
}

// sized runs f with a place for a size, which the library reads again.
func (s *session) sized(f func(size uint64) error) error {
	out := dl.Alloc(8)
	defer out.Free()
	binary.LittleEndian.PutUint64(out.Bytes(), s.size)
	return f(uint64(out.Addr()))
}

func (s *session) axpby(uint64) error {
	s.work = func(h uint64) error {
		return s.p.call(rocsparse.Rocsparse_axpby, h, uint64(s.c.First), s.vector, uint64(s.c.Second), s.dense[0])
	}
	return nil
}

func (s *session) gather(uint64) error {
	s.work = func(h uint64) error { return s.p.call(rocsparse.Rocsparse_gather, h, s.dense[0], s.vector) }
	return nil
}

func (s *session) scatter(uint64) error {
	s.work = func(h uint64) error { return s.p.call(rocsparse.Rocsparse_scatter, h, s.vector, s.dense[0]) }
	return nil
}

func (s *session) rot(uint64) error {
	s.work = func(h uint64) error {
		return s.p.call(rocsparse.Rocsparse_rot, h, uint64(s.c.First), uint64(s.c.Second), s.vector, s.dense[0])
	}
	return nil
}

// spvv is asked for a size if there is no memory.
func (s *session) spvv(h uint64) error {
	run := func(h, size, buffer uint64) error {
		return s.p.call(rocsparse.Rocsparse_spvv, h, uint64(s.c.OpA), s.vector, s.dense[0], uint64(s.c.First), uint64(s.c.Compute), size, buffer)
	}
	s.work = func(h uint64) error { return s.sized(func(size uint64) error { return run(h, size, s.buffer) }) }
	return s.atLeast(func(size uint64) error { return run(h, size, 0) })
}

// atLeast asks for a size, and has memory though none is wanted: without any the call would ask again.
func (s *session) atLeast(ask func(size uint64) error) error {
	err := s.asks(ask)
	s.size = max(s.size, 4)
	return err
}

func (s *session) spmv(h uint64) error {
	alg := uint64(rocsparse.Rocsparse_spmv_alg_csr_stream)
	if s.c.Sparse.Format == sparse.CUSPARSE_FORMAT_COO {
		alg = rocsparse.Rocsparse_spmv_alg_coo
	}
	run := func(h, stage, size, buffer uint64) error {
		return s.p.call(rocsparse.Rocsparse_spmv, h, uint64(s.c.OpA), uint64(s.c.First), s.matrix, s.dense[0], uint64(s.c.Second), s.dense[1], uint64(s.c.Compute), alg, stage, size, buffer)
	}
	return s.staged(h, run, rocsparse.Rocsparse_spmv_stage_buffer_size, rocsparse.Rocsparse_spmv_stage_preprocess, rocsparse.Rocsparse_spmv_stage_compute)
}

func (s *session) spmm(h uint64) error {
	alg := uint64(rocsparse.Rocsparse_spmm_alg_csr_row_split)
	if s.c.Sparse.Format == sparse.CUSPARSE_FORMAT_COO {
		alg = rocsparse.Rocsparse_spmm_alg_coo_segmented
	}
	run := func(h, stage, size, buffer uint64) error {
		return s.p.call(rocsparse.Rocsparse_spmm, h, uint64(s.c.OpA), uint64(s.c.OpB), uint64(s.c.First), s.matrix, s.dense[0], uint64(s.c.Second), s.dense[1], uint64(s.c.Compute), alg, stage, size, buffer)
	}
	return s.staged(h, run, rocsparse.Rocsparse_spmm_stage_buffer_size, rocsparse.Rocsparse_spmm_stage_preprocess, rocsparse.Rocsparse_spmm_stage_compute)
}

// staged asks for the size, then prepares and computes.
func (s *session) staged(h uint64, run func(h, stage, size, buffer uint64) error, ask, prepare, compute uint64) error {
	s.work = func(h uint64) error {
		return s.sized(func(size uint64) error {
			if err := run(h, prepare, size, s.buffer); err != nil {
				return err
			}
			return run(h, compute, size, s.buffer)
		})
	}
	return s.atLeast(func(size uint64) error { return run(h, ask, size, 0) })
}

func (s *session) sddmm(h uint64) error {
	run := func(f rocsparse.Func, h, last uint64) error {
		return s.p.call(f, h, uint64(s.c.OpA), uint64(s.c.OpB), uint64(s.c.First), s.dense[0], s.dense[1], uint64(s.c.Second), s.matrix, uint64(s.c.Compute), rocsparse.Rocsparse_sddmm_alg_default, last)
	}
	s.work = func(h uint64) error {
		if err := run(rocsparse.Rocsparse_sddmm_preprocess, h, s.buffer); err != nil {
			return err
		}
		return run(rocsparse.Rocsparse_sddmm, h, s.buffer)
	}
	return s.atLeast(func(size uint64) error { return run(rocsparse.Rocsparse_sddmm_buffer_size, h, size) })
}

func (s *session) toDense(h uint64) error {
	run := func(h, size, buffer uint64) error {
		return s.p.call(rocsparse.Rocsparse_sparse_to_dense, h, s.matrix, s.dense[0], rocsparse.Rocsparse_sparse_to_dense_alg_default, size, buffer)
	}
	s.work = func(h uint64) error { return s.sized(func(size uint64) error { return run(h, size, s.buffer) }) }
	return s.atLeast(func(size uint64) error { return run(h, size, 0) })
}

// triangle tells the matrix which one it is.
func (s *session) triangle() error {
	for _, a := range [][2]uint64{{rocsparse.Rocsparse_spmat_fill_mode, uint64(s.c.Sparse.Fill)}, {rocsparse.Rocsparse_spmat_diag_type, uint64(s.c.Sparse.Diag)}} {
		at := dl.Alloc(4)
		binary.LittleEndian.PutUint32(at.Bytes(), uint32(a[1])) // the numbers are cuSPARSE's
		err := s.p.call(rocsparse.Rocsparse_spmat_set_attribute, s.matrix, a[0], uint64(at.Addr()), 4)
		at.Free()
		if err != nil {
			return err
		}
	}
	return nil
}

// spsv analyses at every solve: what an analysis found is with the library's descriptor, which ends with the call.
func (s *session) spsv(h uint64) error {
	if err := s.triangle(); err != nil {
		return err
	}
	run := func(h, stage, size, buffer uint64) error {
		return s.p.call(rocsparse.Rocsparse_spsv, h, uint64(s.c.OpA), uint64(s.c.First), s.matrix, s.dense[0], s.dense[1], uint64(s.c.Compute), rocsparse.Rocsparse_spsv_alg_default, stage, size, buffer)
	}
	return s.staged(h, run, rocsparse.Rocsparse_spsv_stage_buffer_size, rocsparse.Rocsparse_spsv_stage_preprocess, rocsparse.Rocsparse_spsv_stage_compute)
}

func (s *session) spsm(h uint64) error {
	if err := s.triangle(); err != nil {
		return err
	}
	run := func(h, stage, size, buffer uint64) error {
		return s.p.call(rocsparse.Rocsparse_spsm, h, uint64(s.c.OpA), uint64(s.c.OpB), uint64(s.c.First), s.matrix, s.dense[0], s.dense[1], uint64(s.c.Compute), rocsparse.Rocsparse_spsm_alg_default, stage, size, buffer)
	}
	return s.staged(h, run, rocsparse.Rocsparse_spsm_stage_buffer_size, rocsparse.Rocsparse_spsm_stage_preprocess, rocsparse.Rocsparse_spsm_stage_compute)
}

// toSparse counts the entries where no size is given, and writes them where there is one.
func (s *session) toSparse(h uint64) error {
	run := func(h, size, buffer uint64) error {
		return s.p.call(rocsparse.Rocsparse_dense_to_sparse, h, s.dense[0], s.matrix, rocsparse.Rocsparse_dense_to_sparse_alg_default, size, buffer)
	}
	s.work = func(h uint64) error {
		if err := run(h, 0, s.buffer); err != nil {
			return err
		}
		return s.sized(func(size uint64) error { return run(h, size, s.buffer) })
	}
	return s.atLeast(func(size uint64) error { return run(h, size, 0) })
}
