package cusparse

import (
	"kudzu/internal/driver"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/sparse"
)

// planKind is what a plan is for: a handle of one kind is not taken for another.
type planKind int

// The kinds of plans.
const (
	planSpSV planKind = iota
	planSpSM
	planSpGEMM
	planSpGEAM
	planCsric02
	planBsric02
	planCsrilu02
	planBsrilu02
	planBsrsv2
	planBsrsm2
	planCsru2csr
	planColor
	planPrune
	planSpMVOpDescr
	planSpMVOp
	planSpMMOp
)

// plan is what is kept between the steps of an operation.
type plan struct {
	kind planKind

	mu       lockrank.Mutex[lockrank.SparsePlan]
	memory   []driver.DevPtr // guarded by mu, as all that follows
	analysed bool
	values   uint64 // SpSV, SpSM: values set after the analysis
	diagonal uint64 // SpSV, SpSM: the diagonal set after the analysis, 0 if it is that of the values
	pivots   uint64 // the two numbers of struct Pivots
	perm     uint64
	boost    boost
	gemm     gemmState
	spmv     spmvOp // of SpMVOp; never changes
	spmm     spmmOp // of SpMMOp; never changes
}

// boost replaces small pivots of incomplete factors.
type boost struct {
	on         bool
	tol, value cublas.Scalar
}

var plans = handle.NewTable[plan](handle.CusparsePlan, "cuSPARSE plans")

func newPlan(k planKind) (uint64, error) { return given(plans.New(&plan{kind: k})) }

// planOf is a live plan of a kind.
func planOf(h uint64, k planKind) (*plan, error) {
	p := plans.Get(handle.Value(h))
	if p == nil || p.kind != k {
		return nil, invalidValue
	}
	return p, nil
}

// endPlan ends one, after the work that uses its memory.
func (t *Thread) endPlan(h uint64, k planKind) error {
	if h == 0 {
		return nil
	}
	p, err := planOf(h, k)
	if err != nil {
		return err
	}
	plans.Delete(handle.Value(h))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(t.driver())
	return nil
}

// drop gives the memory back. Preconditions: p.mu is held.
func (p *plan) drop(d *driver.Thread) {
	for _, m := range p.memory {
		_ = d.GiveMemory(m)
	}
	p.memory = nil
}

// take is memory that lives with the plan. Preconditions: p.mu is held.
func (p *plan) take(d *driver.Thread, n int64) (uint64, error) {
	m, err := d.TakeMemory(uint64(max(n, 16)))
	if err != nil {
		return 0, err
	}
	p.memory = append(p.memory, m)
	return uint64(m), nil
}

// SpSVCreateDescr makes a plan.
func (t *Thread) SpSVCreateDescr() (uint64, error) { return newPlan(planSpSV) }

// SpSVDestroyDescr ends one.
func (t *Thread) SpSVDestroyDescr(h uint64) error { return t.endPlan(h, planSpSV) }

// SpSMCreateDescr makes a plan.
func (t *Thread) SpSMCreateDescr() (uint64, error) { return newPlan(planSpSM) }

// SpSMDestroyDescr ends one.
func (t *Thread) SpSMDestroyDescr(h uint64) error { return t.endPlan(h, planSpSM) }

// SpGEMMCreateDescr makes a plan.
func (t *Thread) SpGEMMCreateDescr() (uint64, error) { return newPlan(planSpGEMM) }

// SpGEMMDestroyDescr ends one.
func (t *Thread) SpGEMMDestroyDescr(h uint64) error { return t.endPlan(h, planSpGEMM) }

// SpGEAMCreateDescr makes a plan.
func (t *Thread) SpGEAMCreateDescr() (uint64, error) { return newPlan(planSpGEAM) }

// SpGEAMDestroyDescr ends one.
func (t *Thread) SpGEAMDestroyDescr(h uint64) error { return t.endPlan(h, planSpGEAM) }

// CreateCsric02Info makes a plan.
func (t *Thread) CreateCsric02Info() (uint64, error) { return newPlan(planCsric02) }

// DestroyCsric02Info ends one.
func (t *Thread) DestroyCsric02Info(h uint64) error { return t.endPlan(h, planCsric02) }

// CreateBsric02Info makes a plan.
func (t *Thread) CreateBsric02Info() (uint64, error) { return newPlan(planBsric02) }

// DestroyBsric02Info ends one.
func (t *Thread) DestroyBsric02Info(h uint64) error { return t.endPlan(h, planBsric02) }

// CreateCsrilu02Info makes a plan.
func (t *Thread) CreateCsrilu02Info() (uint64, error) { return newPlan(planCsrilu02) }

// DestroyCsrilu02Info ends one.
func (t *Thread) DestroyCsrilu02Info(h uint64) error { return t.endPlan(h, planCsrilu02) }

// CreateBsrilu02Info makes a plan.
func (t *Thread) CreateBsrilu02Info() (uint64, error) { return newPlan(planBsrilu02) }

// DestroyBsrilu02Info ends one.
func (t *Thread) DestroyBsrilu02Info(h uint64) error { return t.endPlan(h, planBsrilu02) }

// CreateBsrsv2Info makes a plan.
func (t *Thread) CreateBsrsv2Info() (uint64, error) { return newPlan(planBsrsv2) }

// DestroyBsrsv2Info ends one.
func (t *Thread) DestroyBsrsv2Info(h uint64) error { return t.endPlan(h, planBsrsv2) }

// CreateBsrsm2Info makes a plan.
func (t *Thread) CreateBsrsm2Info() (uint64, error) { return newPlan(planBsrsm2) }

// DestroyBsrsm2Info ends one.
func (t *Thread) DestroyBsrsm2Info(h uint64) error { return t.endPlan(h, planBsrsm2) }

// CreateCsru2csrInfo makes a plan.
func (t *Thread) CreateCsru2csrInfo() (uint64, error) { return newPlan(planCsru2csr) }

// DestroyCsru2csrInfo ends one.
func (t *Thread) DestroyCsru2csrInfo(h uint64) error { return t.endPlan(h, planCsru2csr) }

// CreateColorInfo makes a plan.
func (t *Thread) CreateColorInfo() (uint64, error) { return newPlan(planColor) }

// DestroyColorInfo ends one.
func (t *Thread) DestroyColorInfo(h uint64) error { return t.endPlan(h, planColor) }

// CreatePruneInfo makes a plan.
func (t *Thread) CreatePruneInfo() (uint64, error) { return newPlan(planPrune) }

// DestroyPruneInfo ends one.
func (t *Thread) DestroyPruneInfo(h uint64) error { return t.endPlan(h, planPrune) }

// description is what the older functions know of a matrix. C keeps it (c/base/shims.c), because its getters return it.
type description struct {
	Type sparse.CusparseMatrixType_t
	Fill sparse.CusparseFillMode_t
	Diag sparse.CusparseDiagType_t
	Base indexBase
}

// described is a description of the program's.
func described(h uint64) (description, error) {
	if h == 0 {
		return description{}, invalidValue
	}
	return hostmem.Load[description](hostmem.Ptr(h)), nil
}
