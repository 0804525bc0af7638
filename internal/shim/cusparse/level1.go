package cusparse

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/sparse"
)

// pair finds a sparse and a dense vector of the same size.
func pair(x, y uint64) (*sparseVector, *denseVector, error) {
	vx, err1 := got(sparseVectors, x)
	vy, err2 := got(vectors, y)
	if err1 != nil || err2 != nil || vx.size != vy.size {
		return nil, nil, invalidValue
	}
	return vx, vy, nil
}

// computeOf is the type scalars have for a type of elements.
func computeOf(e Elem) Elem {
	if e == F16 || e == BF16 || e == S8 {
		return F32
	}
	return e
}

// alike says that two vectors have one type, of those that functions of vectors take.
func alike(x *sparseVector, y *denseVector) error {
	if x.elem != y.elem || x.wide == sparse.CUSPARSE_INDEX_16U {
		return notSupported
	}
	if x.elem == S32 || x.elem == none {
		return internalError // as the vendor's
	}
	return nil
}

// Axpby is y = alpha × x + beta × y.
func (t *Thread) Axpby(h uint64, alpha hostmem.Ptr, x uint64, beta hostmem.Ptr, y uint64) error {
	return t.work(h, func(c *call) error {
		vx, vy, err := pair(x, y)
		if err == nil {
			err = alike(vx, vy)
		}
		if err != nil {
			return err
		}
		e := computeOf(vx.elem)
		al, err := c.scalar(alpha, e)
		if err != nil {
			return err
		}
		be, err := c.scalar(beta, e)
		if err != nil {
			return err
		}
		if done, err := c.elsewhere(func() *Work {
			return &Work{Name: "axpby", First: alpha, Second: beta, Vector: vx.outside(), Dense: []*Dense{vy.outside()}}
		}); done {
			return err
		}
		p := (&shim.Params{}).U64(vy.values).U32(uint32(vy.elem)).U64(uint64(vy.size))
		be.Put(p)
		if err := c.launch(productKernels, form("scale", e), vy.size, p); err != nil {
			return err
		}
		p = vx.put(&shim.Params{}).U64(vy.values).U32(uint32(vy.elem))
		al.Put(p)
		return c.launch(productKernels, form("axpy", e), vx.nnz, p)
	})
}

// Gather takes the elements of y that x has.
func (t *Thread) Gather(h, y, x uint64) error { return t.move(h, x, y, "gather") }

// Scatter puts the elements of x into y.
func (t *Thread) Scatter(h, x, y uint64) error { return t.move(h, x, y, "scatter") }

func (t *Thread) move(h, x, y uint64, kernel string) error {
	return t.work(h, func(c *call) error {
		vx, vy, err := pair(x, y)
		if err != nil {
			return err
		}
		if err := alike(vx, vy); err != nil {
			return err
		}
		if done, err := c.elsewhere(func() *Work {
			return &Work{Name: kernel, Vector: vx.outside(), Dense: []*Dense{vy.outside()}}
		}); done {
			return err
		}
		return c.launch(productKernels, kernel, vx.nnz, vx.put(&shim.Params{}).U64(vy.values).U32(uint32(vy.elem)))
	})
}

// Rot rotates x and the elements of y that it has.
func (t *Thread) Rot(h uint64, cosine, sine hostmem.Ptr, x, y uint64) error {
	return t.work(h, func(c *call) error {
		vx, vy, err := pair(x, y)
		if err == nil {
			err = alike(vx, vy)
		}
		if err != nil {
			return err
		}
		e := computeOf(vx.elem)
		co, err := c.scalar(cosine, e)
		if err != nil {
			return err
		}
		si, err := c.scalar(sine, e)
		if err != nil {
			return err
		}
		if done, err := c.elsewhere(func() *Work {
			return &Work{Name: "rot", First: cosine, Second: sine, Vector: vx.outside(), Dense: []*Dense{vy.outside()}}
		}); done {
			return err
		}
		p := vx.put(&shim.Params{}).U64(vy.values).U32(uint32(vy.elem))
		co.Put(p)
		si.Put(p)
		return c.launch(productKernels, form("rot", e), vx.nnz, p)
	})
}

// spvv finds the operands of SpVV.
func spvv(op operation, x, y uint64, out hostmem.Ptr, compute dataType) (*sparseVector, *denseVector, Elem, error) {
	vx, vy, err := pair(x, y)
	if err != nil || out == hostmem.Nil || op != sparse.CUSPARSE_OPERATION_NON_TRANSPOSE && op != sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE {
		return nil, nil, 0, invalidValue
	}
	e, err := elemOf(compute)
	if err != nil {
		return nil, nil, 0, err
	}
	want := computeOf(vx.elem)
	if vx.elem == S8 && e == F32 {
		want = F32
	} else if vx.elem == S8 {
		want = S32
	}
	if vx.elem != vy.elem || vx.elem == S32 || vx.wide == sparse.CUSPARSE_INDEX_16U || e != want {
		return nil, nil, 0, notSupported
	}
	if conjugates(op, vx.elem) {
		return nil, nil, 0, invalidValue
	}
	return vx, vy, e, nil
}

// SpVV is the sum of the products of op(x) and y.
func (t *Thread) SpVV(h uint64, op operation, x, y uint64, out hostmem.Ptr, compute dataType, _ hostmem.Ptr) error {
	return t.work(h, func(c *call) error {
		vx, vy, e, err := spvv(op, x, y, out, compute)
		if err != nil {
			return err
		}
		if done, err := c.elsewhere(func() *Work {
			return &Work{Name: "spvv", OpA: op, First: out, Vector: vx.outside(), Dense: []*Dense{vy.outside()}, Compute: compute}
		}); done {
			return err
		}
		to := uint64(out)
		host := c.mode == sparse.CUSPARSE_POINTER_MODE_HOST
		if host {
			if to, err = c.scratch(16); err != nil {
				return err
			}
		}
		p := vx.put(&shim.Params{}).U64(vy.values).U32(uint32(vy.elem)).U64(to).U32(uint32(e), flag(op == sparse.CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE))
		if err := c.single(productKernels, form("dot", e), p); err != nil || !host {
			return err
		}
		if err := c.d.MemcpyDtoHAsync(out, driver.DevPtr(to), uint64(e.Size()), c.stream); err != nil {
			return err
		}
		return c.d.StreamSynchronize(c.stream)
	})
}

// SpVVBufferSize is nothing: the handle has the memory.
func (t *Thread) SpVVBufferSize(h uint64, op operation, x, y uint64, out hostmem.Ptr, compute dataType) (uint64, error) {
	if _, err := find(h); err != nil {
		return 0, err
	}
	_, _, _, err := spvv(op, x, y, out, compute)
	return 0, err
}
