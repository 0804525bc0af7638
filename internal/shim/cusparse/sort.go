package cusparse

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
)

// XcsrsortBufferSizeExt says how much memory is wanted.
func (t *Thread) XcsrsortBufferSizeExt(h uint64, m, n, nnz int32, _, _ hostmem.Ptr) (uint64, error) {
	return 16, t.sizeOf(h, m, n, nnz)
}

// Xcsrsort sorts the entries of each row, and a permutation with them.
func (t *Thread) Xcsrsort(h uint64, m, n, nnz int32, descr uint64, offsets, indices, p, buffer hostmem.Ptr) error {
	return t.older(h, func(c *call) error {
		d, err := described(descr)
		if err != nil || m < 0 || n < 0 || nnz < 0 || buffer == hostmem.Nil {
			return invalidValue
		}
		if err := c.sortLines(int64(m), int64(nnz), uint32(d.Base), offsets, indices, uint64(p)); err != nil {
			return err
		}
		return withoutPermutation(p)
	})
}

func (c *call) sortLines(m, nnz int64, base uint32, offsets, indices hostmem.Ptr, p uint64) error {
	s, err := c.scratches(nnz*8, nnz*4)
	if err != nil {
		return err
	}
	q := (&shim.Params{}).U64(uint64(offsets), uint64(indices), p, uint64(m)).U32(base).U64(s...)
	return c.launch(convertKernels, "sort_lines", m, q)
}

// XcscsortBufferSizeExt says how much memory is wanted.
func (t *Thread) XcscsortBufferSizeExt(h uint64, m, n, nnz int32, _, _ hostmem.Ptr) (uint64, error) {
	return 16, t.sizeOf(h, m, n, nnz)
}

// Xcscsort sorts the entries of each column.
func (t *Thread) Xcscsort(h uint64, m, n, nnz int32, descr uint64, offsets, indices, p, buffer hostmem.Ptr) error {
	return t.Xcsrsort(h, n, m, nnz, descr, offsets, indices, p, buffer)
}

// XcoosortBufferSizeExt says how much memory is wanted.
func (t *Thread) XcoosortBufferSizeExt(h uint64, m, n, nnz int32, _, _ hostmem.Ptr) (uint64, error) {
	return 16, t.sizeOf(h, m, n, nnz)
}

func (t *Thread) coosort(h uint64, m, n, nnz int32, first, second, p hostmem.Ptr) error {
	return t.older(h, func(c *call) error {
		if m < 0 || n < 0 || nnz < 0 {
			return invalidValue
		}
		if nnz == 0 {
			return nil
		}
		keys, err := c.scratch(int64(nnz)*28 + 16)
		if err != nil {
			return err
		}
		if err := c.single(convertKernels, "sort_pairs", (&shim.Params{}).U64(uint64(first), uint64(second), uint64(p), uint64(nnz), keys)); err != nil {
			return err
		}
		return withoutPermutation(p)
	})
}

// withoutPermutation is what a sort answers, as the vendor's: it sorts, but without a permutation it says that it failed.
func withoutPermutation(p hostmem.Ptr) error {
	if p == hostmem.Nil {
		return internalError
	}
	return nil
}

// XcoosortByRow sorts entries by rows, then columns.
func (t *Thread) XcoosortByRow(h uint64, m, n, nnz int32, rows, cols, p, _ hostmem.Ptr) error {
	return t.coosort(h, m, n, nnz, rows, cols, p)
}

// XcoosortByColumn sorts entries by columns, then rows.
func (t *Thread) XcoosortByColumn(h uint64, m, n, nnz int32, rows, cols, p, _ hostmem.Ptr) error {
	return t.coosort(h, m, n, nnz, cols, rows, p)
}

// Csru2csrBufferSizeExt says how much memory is wanted.
func (t *Thread) Csru2csrBufferSizeExt(h uint64, m, n, nnz int32, _, _, _ hostmem.Ptr, info uint64, _ Elem) (uint64, error) {
	if err := t.sizeOf(h, m, n, nnz); err != nil {
		return 0, err
	}
	_, err := planOf(info, planCsru2csr)
	return 16, err
}

// Csru2csr sorts the entries of each row with their values, and keeps the order that there was.
func (t *Thread) Csru2csr(h uint64, m, n, nnz int32, descr uint64, values, offsets, indices hostmem.Ptr, info uint64, _ hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		d, err := described(descr)
		p, err2 := planOf(info, planCsru2csr)
		if err != nil || err2 != nil || m < 0 || n < 0 || nnz < 0 {
			return invalidValue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drop(c.d)
		if p.perm, err = p.take(c.d, int64(nnz)*4); err != nil {
			return err
		}
		if err := c.launch(convertKernels, "identity", int64(nnz), (&shim.Params{}).U64(p.perm, uint64(nnz))); err != nil {
			return err
		}
		if err := c.sortLines(int64(m), int64(nnz), uint32(d.Base), offsets, indices, p.perm); err != nil {
			return err
		}
		return c.permute(values, p.perm, int64(nnz), uint32(e.Size()), 0)
	})
}

// permute moves values by a permutation, or back.
func (c *call) permute(values hostmem.Ptr, perm uint64, n int64, size, back uint32) error {
	old, err := c.scratch(n * int64(size))
	if err != nil {
		return err
	}
	if err := c.launch(convertKernels, "copy_all", n, (&shim.Params{}).U64(old, uint64(values), uint64(n)).U32(size)); err != nil {
		return err
	}
	return c.launch(convertKernels, "permute", n, (&shim.Params{}).U64(uint64(values), old, perm, uint64(n)).U32(size, back))
}

// Csr2csru puts entries back into the order that Csru2csr found.
func (t *Thread) Csr2csru(h uint64, m, n, nnz int32, descr uint64, values, _, indices hostmem.Ptr, info uint64, _ hostmem.Ptr, e Elem) error {
	return t.older(h, func(c *call) error {
		_, err := described(descr)
		p, err2 := planOf(info, planCsru2csr)
		if err != nil || err2 != nil || m < 0 || n < 0 || nnz < 0 {
			return invalidValue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.perm == 0 {
			return invalidValue
		}
		if err := c.permute(values, p.perm, int64(nnz), uint32(e.Size()), 1); err != nil {
			return err
		}
		return c.permute(indices, p.perm, int64(nnz), 4, 1)
	})
}
