package cublas

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
)

// A call of cublasXt copies tiles to a device, multiplies them there as cuBLAS does (Product), and copies the result back. The work is put
// into the default streams of the devices, one device after another, and the call waits for all of them.

// operand is a matrix of the program as a product reads it.
type operand struct {
	at     hostmem.Ptr
	ld     int64
	op     Op // how it is read
	shape  shape
	fill   Fill
	diag   Diag
	packed bool
	order  int64 // rows, of one that is packed
}

type shape int

const (
	general shape = iota
	symmetric
	hermitian
	triangular
)

// stored says which tile of memory is read for tile (r, c) of what the product reads, in which way, or that it is all zeros.
func (o *operand) stored(r, c int64) (row, col int64, how blas.CublasOperation_t, zero bool) {
	inside := r == c || (r < c) == (o.fill == blas.CUBLAS_FILL_MODE_UPPER)
	switch o.shape {
	case symmetric, hermitian:
		switch {
		case r == c:
			return r, c, mirrored(o.fill, o.shape == hermitian), false
		case inside:
			return r, c, blas.CUBLAS_OP_N, false
		case o.shape == hermitian:
			return c, r, blas.CUBLAS_OP_C, false
		}
		return c, r, blas.CUBLAS_OP_T, false
	case triangular:
		row, col = r, c
		if transposes(o.op) {
			row, col = c, r
		}
		if row == col {
			return row, col, triangleOp(o.fill, o.op, o.diag), false
		}
		return row, col, o.op, (row < col) != (o.fill == blas.CUBLAS_FILL_MODE_UPPER)
	case general:
	}
	if transposes(o.op) {
		return c, r, o.op, false
	}
	return r, c, o.op, false
}

// place is the work of one device: room for tiles, and the memory that kernels of cuBLAS need.
type place struct {
	*tiled
	a, b, c uint64
	panel   uint64
	x       Handle
}

// eachDevice puts work into every device, and waits for all. f is called with the device's turn in its context; sides says how many
// elements tiles a, b, c and a panel have.
func (c *tiled) eachDevice(sizes [4]int64, f func(p *place, turn, of int64) error) (err error) {
	places := make([]*place, 0, len(c.devices))
	in := func(dev cu.CUdevice, f func() error) error {
		ctx, err := c.d.DevicePrimaryCtxRetain(dev)
		if err != nil {
			return err
		}
		defer func() { _ = c.d.DevicePrimaryCtxRelease(dev) }()
		if err := c.d.CtxPushCurrent(ctx); err != nil {
			return err
		}
		defer func() { _, _ = c.d.CtxPopCurrent() }()
		return f()
	}
	for i, dev := range c.devices {
		err = in(dev, func() error {
			p := &place{tiled: c}
			places = append(places, p)
			for k, to := range []*uint64{&p.a, &p.b, &p.c, &p.panel} {
				at, err := c.d.MemAlloc(uint64(max(1, sizes[k])) * uint64(c.e.Size()))
				if err != nil {
					return err
				}
				*to = uint64(at)
			}
			return f(p, int64(i), int64(len(c.devices)))
		})
		if err != nil {
			break
		}
	}
	for i, p := range places {
		end := in(c.devices[i], func() error {
			err := c.d.StreamSynchronize(0)
			for _, at := range []uint64{p.a, p.b, p.c, p.panel} {
				if at != 0 {
					_ = c.d.MemFree(driver.DevPtr(at)) // it is ours
				}
			}
			p.x.space.Drop(c.d)
			p.x.sums.Drop(c.d)
			return err
		})
		if err == nil {
			err = end
		}
	}
	return err
}

// copy moves rows × cols elements in the stream's order; either side may be anybody's memory.
func (p *place) copy(dst uint64, ldd int64, src uint64, lds, rows, cols int64) error {
	if dst == 0 || src == 0 {
		return mappingError
	}
	return p.t.move(rows, cols, int64(p.e.Size()), hostmem.Ptr(src), lds, hostmem.Ptr(dst), ldd, 0, true)
}

// address of an element.
func (c *tiled) address(at hostmem.Ptr, ld, row, col int64) uint64 {
	return uint64(at) + uint64(row+col*ld)*uint64(c.e.Size())
}

// bring copies the tile at (r, c) of rows × cols as the product reads it to a device, and says how it lies there.
func (p *place) bring(o *operand, to uint64, r, c, rows, cols int64) (v View, zero bool, err error) {
	row, col, how, zero := o.stored(r, c)
	if zero {
		return v, true, nil
	}
	if row != r || transposes(o.op) {
		rows, cols = cols, rows
	}
	v = View{Base: to, LD: max(1, rows), Op: how}
	if !o.packed {
		return v, false, p.copy(to, v.LD, p.address(o.at, o.ld, row, col), o.ld, rows, cols)
	}
	for j := range cols { // what is stored of a column is in one piece
		from, n, first := int64(0), rows, row
		if row == col && o.fill == blas.CUBLAS_FILL_MODE_UPPER {
			n = j + 1
		} else if row == col {
			from, n = j, rows-j
			first += j
		}
		k := col + j
		at := first + k*(k+1)/2
		if o.fill == blas.CUBLAS_FILL_MODE_LOWER {
			at = first + k*(2*o.order-k-1)/2
		}
		if err := p.copy(p.address(hostmem.Ptr(to), v.LD, from, j), n, p.address(o.at, 1, at, 0), n, n, 1); err != nil {
			return v, false, err
		}
	}
	return v, false, nil
}

// term is alpha X Y, a part of what C becomes.
type term struct {
	alpha Scalar
	x, y  operand
}

// sum is C = beta C and the terms, in all of C or a triangle.
type sum struct {
	m, n, k int64
	terms   []term
	beta    Scalar
	c       hostmem.Ptr
	ldc     int64
	part    Part
	real    bool // the diagonal is
}

// run does it by tiles of C.
func (c *tiled) run(s *sum) error {
	b := min(c.block, max(s.m, s.n, s.k, 1))
	tile := min(b, max(s.m, s.n, s.k, 1))
	return c.eachDevice([4]int64{tile * tile, tile * tile, tile * tile, 1}, func(p *place, turn, of int64) error {
		n := int64(0)
		for col := int64(0); col < s.n; col += b {
			for row := int64(0); row < s.m; row += b {
				if (s.part == PartLower && row < col) || (s.part == PartUpper && row > col) {
					continue
				}
				if n++; n%of != turn {
					continue
				}
				if err := p.tile(s, row, col, b); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// tile does one tile of C.
func (p *place) tile(s *sum, row, col, b int64) error {
	rows, cols := min(b, s.m-row), min(b, s.n-col)
	q := Product{M: rows, N: cols, Batch: 1, TA: p.e, TC: p.e, Sum: p.e, C: View{Base: p.c, LD: rows}, Beta: s.beta}
	if s.part != PartAll && row == col {
		q.Part, q.Real = s.part, s.real
	}
	home := p.address(s.c, s.ldc, row, col)
	if q.Part != PartAll || !s.beta.IsZero() {
		if err := p.copy(p.c, rows, home, s.ldc, rows, cols); err != nil {
			return err
		}
	}
	done := false
	for _, t := range s.terms {
		q.Alpha = t.alpha
		for k := int64(0); k < s.k && !t.alpha.IsZero(); k += b {
			q.K = min(b, s.k-k)
			var zero [2]bool
			var err error
			if q.A, zero[0], err = p.bring(&t.x, p.a, row, k, rows, q.K); err != nil || zero[0] {
				if err != nil {
					return err
				}
				continue
			}
			if q.B, zero[1], err = p.bring(&t.y, p.b, k, col, q.K, cols); err != nil || zero[1] {
				if err != nil {
					return err
				}
				continue
			}
			if err := q.Run(p.d, 0, &p.x.space); err != nil {
				return err
			}
			q.Beta, done = Scalar{Re: 1}, true
		}
	}
	if !done { // what is left is beta C
		q.K, q.Alpha = 0, Scalar{}
		if err := q.Run(p.d, 0, &p.x.space); err != nil {
			return err
		}
	}
	return p.copy(home, s.ldc, p.c, rows, rows, cols)
}

// scale is C = beta C.
func (p *place) scale(c View, rows, cols int64, beta Scalar) error {
	q := Product{M: rows, N: cols, Batch: 1, TA: p.e, TC: p.e, Sum: p.e, C: c, Beta: beta}
	return q.Run(p.d, 0, &p.x.space)
}

// panels is B = alpha op(A) B, or the solution of op(A) X = alpha B, by panels: the columns of B that are a tile wide, or its rows where A is on
// the right. A panel stays on its device.
type panels struct {
	m, n  int64
	right bool
	a     operand // a triangle
	alpha Scalar
	b, c  hostmem.Ptr
	ldb   int64
	ldc   int64
}

// run does f for every panel: lines are the rows or columns of A, count the others.
func (s *panels) run(c *tiled, f func(p *place, at, rows, cols, b int64) error) error {
	lines, count := s.m, s.n
	if s.right {
		lines, count = s.n, s.m
	}
	b := min(c.block, max(lines, count))
	return c.eachDevice([4]int64{b * b, 1, b * b, lines * b}, func(p *place, turn, of int64) error {
		for i := int64(0); i*b < count; i++ {
			if i%of != turn {
				continue
			}
			at, width := i*b, min(b, count-i*b)
			rows, cols, row, col := lines, width, int64(0), at
			if s.right {
				rows, cols, row, col = width, lines, at, 0
			}
			if err := p.copy(p.panel, rows, p.address(s.b, s.ldb, row, col), s.ldb, rows, cols); err != nil {
				return err
			}
			if err := f(p, at, rows, cols, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// piece is tile i of a panel.
func (s *panels) piece(p *place, rows, at int64) View {
	if s.right {
		return View{Base: p.address(hostmem.Ptr(p.panel), rows, 0, at), LD: rows}
	}
	return View{Base: p.address(hostmem.Ptr(p.panel), rows, at, 0), LD: rows}
}

// times is the product of tile (i, k) of A and tile k of the panel, of n and l lines.
func (s *panels) times(p *place, i, k, n, l, rows, cols int64) (q Product, zero bool, err error) {
	q = Product{M: n, N: cols, K: l, Batch: 1, TA: p.e, TC: p.e, Sum: p.e}
	other := s.piece(p, rows, k)
	var v View
	if s.right {
		q.M, q.N = rows, n
		v, zero, err = p.bring(&s.a, p.a, k, i, l, n)
		q.A, q.B = other, v
	} else {
		v, zero, err = p.bring(&s.a, p.a, i, k, n, l)
		q.A, q.B = v, other
	}
	return q, zero, err
}

// multiply is trmm: what a panel was stays until all of it is done.
func (s *panels) multiply(c *tiled) error {
	return s.run(c, func(p *place, at, rows, cols, b int64) error {
		lines := s.m
		if s.right {
			lines = s.n
		}
		for i := int64(0); i < lines; i += b {
			n, beta := min(b, lines-i), Scalar{}
			for k := int64(0); k < lines && !s.alpha.IsZero(); k += b {
				q, zero, err := s.times(p, i, k, n, min(b, lines-k), rows, cols)
				if err != nil {
					return err
				}
				if zero {
					continue
				}
				q.Alpha, q.Beta = s.alpha, beta
				q.C = View{Base: p.c, LD: q.M}
				if err := q.Run(p.d, 0, &p.x.space); err != nil {
					return err
				}
				beta = Scalar{Re: 1}
			}
			m, w, row, col := n, cols, i, at
			if s.right {
				m, w, row, col = rows, n, at, i
			}
			if s.alpha.IsZero() {
				if err := p.scale(View{Base: p.c, LD: m}, m, w, Scalar{}); err != nil {
					return err
				}
			}
			if err := p.copy(p.address(s.c, s.ldc, row, col), s.ldc, p.c, m, m, w); err != nil {
				return err
			}
		}
		return nil
	})
}

// solve is trsm: a tile of the panel after another, each less what those before it contribute.
func (s *panels) solve(c *tiled) error {
	lines := s.m
	if s.right {
		lines = s.n
	}
	// op(A) is lower, as it is read: the first unknown comes first; from the right it is the last one.
	lower := (s.a.fill == blas.CUBLAS_FILL_MODE_LOWER) != transposes(s.a.op)
	forward := lower != s.right
	return s.run(c, func(p *place, at, rows, cols, b int64) error {
		back := func() error {
			row, col := int64(0), at
			if s.right {
				row, col = at, 0
			}
			return p.copy(p.address(s.b, s.ldb, row, col), s.ldb, p.panel, rows, rows, cols)
		}
		if err := p.scale(View{Base: p.panel, LD: rows}, rows, cols, s.alpha); err != nil {
			return err
		}
		if s.alpha.IsZero() { // nothing of A is read
			return back()
		}
		tiles := (lines + b - 1) / b
		for step := range tiles {
			i := step * b
			if !forward {
				i = (tiles - 1 - step) * b
			}
			n := min(b, lines-i)
			for k := int64(0); k < lines; k += b {
				if k == i || (k < i) != forward {
					continue
				}
				q, zero, err := s.times(p, i, k, n, min(b, lines-k), rows, cols)
				if err != nil {
					return err
				}
				if zero {
					continue
				}
				q.Alpha, q.Beta, q.C = Scalar{Re: -1}, Scalar{Re: 1}, s.piece(p, rows, i)
				if err := q.Run(p.d, 0, &p.x.space); err != nil {
					return err
				}
			}
			if err := s.diagonal(p, i, n, rows, cols); err != nil {
				return err
			}
		}
		return back()
	})
}

// diagonal solves with tile (i, i) of A, of n lines.
func (s *panels) diagonal(p *place, i, n, rows, cols int64) error {
	if err := p.copy(p.a, n, p.address(s.a.at, s.a.ld, i, i), s.a.ld, n, n); err != nil {
		return err
	}
	x := &triangle{
		j: &job{d: p.d, x: &p.x}, e: p.e, batch: 1, side: blas.CUBLAS_SIDE_LEFT, count: cols, unit: s.a.diag == blas.CUBLAS_DIAG_UNIT,
		a: View{Base: p.a, LD: n, Op: s.a.op}, b: s.piece(p, rows, i), turned: transposes(s.a.op) != s.right,
	}
	m, w := n, cols
	if s.right {
		x.side, x.count, m, w = blas.CUBLAS_SIDE_RIGHT, rows, rows, n
	}
	x.lower = (s.a.fill == blas.CUBLAS_FILL_MODE_LOWER) != x.turned
	return x.j.checked(func() *Sum { return x.sums("trsm", s.a.fill, m, w, n, Scalar{Re: 1}) }, func() error { return x.solve(0, n) })
}
