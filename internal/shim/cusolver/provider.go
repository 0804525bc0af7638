package cusolver

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/cu"
)

// Provider does steps of cuSOLVER with something other than our kernels: a library of the device's vendor.
type Provider interface {
	// Name is the library's.
	Name() string
	// Serves reports whether any call may be this provider's: where it says no, that is all it costs. It is asked at
	// every call.
	Serves(d *driver.Thread) bool
	// Do makes one call of LAPACK's in the order of a stream: its name, the type's letter first, and its arguments
	// without a workspace, enumerations as CUDA numbers them. They were judged before. Not done means that nothing
	// has happened.
	Do(d *driver.Thread, x *cublas.Handle, stream cu.CUstream, name string, args []uint64) (done bool, err error)
	// Drop forgets what is kept for a handle, which is ending. Its work may still run.
	Drop(x *cublas.Handle)
}

var providers shim.Providers[Provider]

// Use puts a provider behind those there are.
func Use(p Provider) { providers.Add(p) }

// Unuse forgets all providers. For tests: a process has one set of them.
func Unuse() { providers.Clear() }

// Answered is a provider's status, in cuSOLVER's numbers, as an error.
func Answered(status int64, known bool) error {
	switch {
	case !known:
		return internalError
	case status == 0:
		return nil
	}
	return Status(status)
}

// letters begin the names of LAPACK's functions.
var letters = map[Elem]string{F32: "s", F64: "d", C32: "c", C64: "z"}

// lapack names a function: LAPACK calls what is orthogonal or symmetric unitary or Hermitian if numbers are complex.
func lapack(name string, e Elem) string {
	if e == C32 || e == C64 {
		if other, ok := complexNames[name]; ok {
			name = other
		}
	}
	return letters[e] + name
}

var complexNames = map[string]string{
	"orgqr": "ungqr", "ormqr": "unmqr", "orgbr": "ungbr", "orgtr": "ungtr", "ormtr": "unmtr", "sytrd": "hetrd",
	"syevd": "heevd", "syevd_strided_batched": "heevd_strided_batched", "sygvd": "hegvd",
}

// elsewhere offers a call to the providers.
func (j *job) elsewhere(name string, e Elem, args ...uint64) (done bool, err error) {
	for _, p := range providers.All() {
		if !p.Serves(j.d) {
			continue
		}
		if done, err := p.Do(j.d, &j.x.blas, j.stream, lapack(name, e), args); done {
			return true, err
		}
	}
	return false, nil
}

// succeeded tells info what functions without one do not, unless they failed.
func (j *job) succeeded(err error, info hostmem.Ptr) error {
	if err != nil {
		return err
	}
	return j.tell(info, 0, 1)
}

// getrfElsewhere: 64-bit pivots come with a 64-bit info, which is made in the handle's memory and copied.
func (j *job) getrfElsewhere(a mat, m, n int64, p pivots, info hostmem.Ptr) (done bool, err error) {
	switch {
	case p.at == 0:
		return j.elsewhere("getrf_npvt", a.e, uint64(m), uint64(n), a.Base, uint64(a.LD), uint64(info))
	case !p.wide:
		return j.elsewhere("getrf", a.e, uint64(m), uint64(n), a.Base, uint64(a.LD), p.at, uint64(info))
	case !j.abroad():
		return false, nil
	}
	_, space := j.x.blas.Spaces()
	wide, err := space.Take(j.d, j.stream, 8)
	if err != nil {
		return false, nil // without memory to work in, the kernels that need none
	}
	if done, err := j.elsewhere("getrf_64", a.e, uint64(m), uint64(n), a.Base, uint64(a.LD), p.at, uint64(wide)); !done || err != nil {
		return done, err
	}
	return true, j.d.MemcpyDtoDAsync(driver.DevPtr(info), wide, 4, j.stream)
}

// getrsElsewhere solves with pivots of either size.
func (j *job) getrsElsewhere(a, b mat, op Op, n, count int64, p pivots) (done bool, err error) {
	name := "getrs"
	if p.wide {
		name = "getrs_64"
	}
	if p.at == 0 {
		return false, nil
	}
	return j.elsewhere(name, a.e, uint64(op), uint64(n), uint64(count), a.Base, uint64(a.LD), p.at, b.Base, uint64(b.LD))
}

// abroad reports whether any provider may do a call.
func (j *job) abroad() bool {
	for _, p := range providers.All() {
		if p.Serves(j.d) {
			return true
		}
	}
	return false
}

// potrfElsewhere takes one matrix, or a list.
func (j *job) potrfElsewhere(a mat, fill Fill, n int64, info hostmem.Ptr) (done bool, err error) {
	args := []uint64{uint64(fill), uint64(n), a.Base, uint64(a.LD), uint64(info)}
	if a.List {
		return j.elsewhere("potrf_batched", a.e, append(args, uint64(a.batch))...)
	}
	return j.elsewhere("potrf", a.e, args...)
}

// potrsElsewhere likewise.
func (j *job) potrsElsewhere(a, b mat, fill Fill, n, count int64) (done bool, err error) {
	args := []uint64{uint64(fill), uint64(n), uint64(count), a.Base, uint64(a.LD), b.Base, uint64(b.LD)}
	if a.List {
		return j.elsewhere("potrs_batched", a.e, append(args, uint64(a.batch))...)
	}
	return j.elsewhere("potrs", a.e, args...)
}

// syevElsewhere: the workspace takes the subdiagonal.
func (j *job) syevElsewhere(p *eigen) (done bool, err error) {
	if p.lwork < p.n*p.a.batch {
		return false, nil
	}
	mode := modeOf(p.vectors)
	if p.a.batch == 1 {
		return j.elsewhere("syevd", p.a.e, mode, uint64(p.fill), uint64(p.n), p.a.Base, uint64(p.a.LD), uint64(p.w), uint64(p.work), uint64(p.info))
	}
	return j.elsewhere("syevd_strided_batched", p.a.e, mode, uint64(p.fill), uint64(p.n), p.a.Base, uint64(p.a.LD), uint64(p.a.Stride),
		uint64(p.w), uint64(p.n), uint64(p.work), uint64(p.n), uint64(p.info), uint64(p.a.batch))
}

// sygvElsewhere likewise.
func (j *job) sygvElsewhere(p *general) (done bool, err error) {
	if p.how != nil {
		return false, nil
	}
	return j.elsewhere("sygvd", p.a.e, uint64(p.kind), modeOf(p.vectors), uint64(p.fill), uint64(p.n), p.a.Base, uint64(p.a.LD), p.b.Base, uint64(p.b.LD),
		uint64(p.w), uint64(p.work), uint64(p.info))
}

// gesvdElsewhere: the workspace takes the superdiagonal. Where vectors take A's place, or none are wanted, LAPACK
// reads no U or V.
func (j *job) gesvdElsewhere(p *singular, jobu, jobvt int8, u, vt cublas.View) (done bool, err error) {
	if p.m == 0 || p.n == 0 || p.info == hostmem.Nil {
		return false, nil
	}
	return j.elsewhere("gesvd", p.a.e, uint64(jobu), uint64(jobvt), uint64(p.m), uint64(p.n), p.a.Base, uint64(p.a.LD), uint64(p.s),
		u.Base, uint64(max(u.LD, 1)), vt.Base, uint64(max(vt.LD, 1)), uint64(p.work), uint64(p.info))
}

func modeOf(vectors bool) uint64 { return uint64(flag(vectors)) } // CUSOLVER_EIG_MODE_*
