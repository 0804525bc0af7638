package cusolver

import (
	"bufio"
	flags "flag"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

var long = flags.Bool("long", false, "all recorded calls and sizes, not a part of them")

// What cuSOLVER 12.0.4 answered on an H200: testdata/record.c asked it, and makes the same matrices.

// recorded is a line of h200.txt: a function, its type and three numbers, and lists of results by name.
type recorded struct {
	f       string
	e       Elem
	args    [3]int
	results map[string][]float64
}

// numbers is the generator.
type numbers uint64

func (s *numbers) next() float64 {
	*s = *s*6364136223846793005 + 1442695040888963407
	return float64(int64(*s>>44))/524288 - 1
}

// The shapes of matrices.
const (
	anyShape = iota
	hermitianShape
	positiveShape
)

func recordedMatrix(e Elem, m, n, shape, seed int) full {
	a, s := newFull(m, n), numbers(seed)
	for j := range n {
		for i := range m {
			re, im := s.next(), 0.0
			if e == C32 || e == C64 {
				im = s.next()
			}
			if shape != anyShape && i == j {
				if im = 0; shape == positiveShape {
					re += 2 * float64(n)
				}
			}
			if shape != anyShape && i < j {
				continue
			}
			a.set(i, j, complex(re, im))
			if shape != anyShape && i != j {
				a.set(j, i, complex(re, -im))
			}
		}
	}
	return a
}

func readRecord(t *testing.T) (all []recorded) {
	f, err := os.Open("testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		w := strings.Fields(s.Text())
		if len(w) < 6 || w[5] != ":" {
			continue
		}
		r := recorded{f: w[0], e: map[string]Elem{"S": F32, "D": F64, "C": C32, "Z": C64}[w[1]], results: map[string][]float64{}}
		for i := range r.args {
			r.args[i], _ = strconv.Atoi(w[2+i])
		}
		name := ""
		for _, x := range w[6:] {
			if v, err := strconv.ParseFloat(x, 64); err == nil {
				r.results[name] = append(r.results[name], v)
			} else {
				name = x
			}
		}
		all = append(all, r)
	}
	return all
}

// near compares the first numbers of a result with recorded ones.
func (r *rig) near(c recorded, name string, got []float64, norm float64) {
	r.t.Helper()
	for i, want := range c.results[name] {
		if i >= len(got) || !(math.Abs(got[i]-want) <= 60*float64(max(c.args[0], 4))*r.eps()*norm) {
			r.t.Errorf("%s %v %v: %s %v, on an H200 %v", c.f, c.e, c.args, name, got, c.results[name])
			return
		}
	}
}

// parts are the numbers of a column's first elements.
func (r *rig) parts(a full, from, n int) (v []float64) {
	for _, x := range a.v[from : from+n] {
		v = append(v, real(x))
		if r.e == C32 || r.e == C64 {
			v = append(v, imag(x))
		}
	}
	return v
}

func (r *rig) ints(p hostmem.Ptr, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(hostmem.Load[int32](p.Index(i, 4)))
	}
	return v
}

// replay makes a recorded call and compares.
func (r *rig) replay(c recorded) {
	m, n := c.args[0], c.args[1]
	info, work := r.infoAt(), r.memory(1<<20)
	const lwork = 1 << 16
	switch c.f {
	case "potrf":
		n, fill, bad := m, Fill(c.args[1]), c.args[2]
		a := recordedMatrix(r.e, n, n, positiveShape, 100+n)
		if bad >= 0 {
			a.set(bad, bad, -1)
		}
		p := r.put(a, n)
		r.ok(r.th.Potrf(r.h, fill, int64(n), p, int64(n), 0, 0, info, r.e))
		if f := r.get(p, n, n, n); bad < 0 {
			r.near(c, "a", r.parts(f, c.args[1]*(n-1)*n, min(n, 6)), a.norm())
		}
	case "getrf":
		a := recordedMatrix(r.e, m, n, anyShape, 200+m*7+n)
		for i := 0; i < m && c.args[2] >= 0; i++ {
			a.set(i, c.args[2], 0)
		}
		p, ipiv := r.put(a, m), r.memory(4*(m+n))
		r.ok(r.th.Getrf(r.h, int64(m), int64(n), p, int64(m), 0, ipiv, info, r.e))
		f := r.get(p, m, n, m)
		r.near(c, "ipiv", r.ints(ipiv, min(m, n, 10)), 0)
		r.near(c, "a", r.parts(f, 0, min(m, 6)), a.norm())
	case "geqrf":
		a := recordedMatrix(r.e, m, n, anyShape, 300+m*7+n)
		p, tau := r.put(a, m), r.memory(16*min(m, n))
		r.ok(r.th.Geqrf(r.h, int64(m), int64(n), p, int64(m), tau, work, lwork, info, r.e))
		f, k := r.get(p, m, n, m), min(m, n)
		r.near(c, "a", r.parts(f, 0, min(m, 6)), a.norm())
		r.near(c, "tau", r.parts(r.get(tau, k, 1, k), 0, min(k, 6)), a.norm())
	case "syevd":
		a, w := recordedMatrix(r.e, m, m, hermitianShape, 400+m), r.memory(8*m)
		r.ok(r.th.Syevd(r.h, Mode(n), Fill(c.args[2]), int64(m), r.put(a, m), int64(m), w, work, lwork, info, r.e))
		r.near(c, "w", r.values(w, m), a.norm())
	case "gesvd":
		a, s := recordedMatrix(r.e, m, n, anyShape, 500+m*7+n), r.memory(8*min(m, n))
		u, v := r.memory(16*m*m), r.memory(16*n*n)
		err := r.th.Gesvd(r.h, int8(c.args[2]), int8(c.args[2]), int64(m), int64(n), r.put(a, m), int64(m), s, u, int64(m), v, int64(n), work, lwork, 0, info, r.e)
		if want := int32(c.results["status"][0]); err != nil && Code(err) != want || err == nil && want != 0 {
			r.t.Errorf("gesvd %v: %v, on an H200 %d", c.args, err, want)
		} else if err == nil {
			r.near(c, "s", r.values(s, min(m, n)), a.norm())
		}
	case "sytrf":
		a, ipiv := recordedMatrix(r.e, m, m, anyShape, 600+m), r.memory(4*m)
		p := r.put(a, m)
		r.ok(r.th.Sytrf(r.h, Fill(n), int64(m), p, int64(m), ipiv, work, lwork, info, r.e))
		r.get(p, m, m, m)
		r.near(c, "ipiv", r.ints(ipiv, min(m, 12)), 0)
	}
	if v := float64(r.info(info)); v != c.results["info"][0] {
		r.t.Errorf("%s %v %v: info %v, on an H200 %v", c.f, c.e, c.args, v, c.results["info"][0])
	}
}

// TestRecorded: 480 calls recorded on an H200: infos and pivots are the same, numbers within rounding.
func TestRecorded(t *testing.T) {
	all := readRecord(t)
	if len(all) < 400 {
		t.Fatalf("%d calls are recorded", len(all))
	}
	onTypes(t, func(r *rig) {
		for i, c := range all {
			if c.e == r.e && (c.f != "gesvd" && c.f != "syevd" || i%3 == 0 || *long) {
				r.replay(c)
			}
		}
	})
}

// misuses are calls of h200_misuse.txt, by their text there; info says that the call wrote one.
func (r *rig) misuses() map[string]func(info hostmem.Ptr) error {
	a, b, w, x, p := r.memory(1<<16), r.memory(1<<16), r.memory(1<<18), r.memory(1<<16), r.memory(4096)
	const lo, d = Fill(blas.CUBLAS_FILL_MODE_LOWER), rt.CUDA_R_64F
	t, h := r.th, r.h
	size := func(_ int32, err error) error { return err }
	wide := func(_, _ uint64, err error) error { return err }
	ip, _ := t.DnIRSParamsCreate()
	irs := solver.CusolverDnIRSParams_t(ip)
	return map[string]func(info hostmem.Ptr) error{
		"cusolverDnSetDeterministicMode(H, 0)":                                        func(hostmem.Ptr) error { return t.DnSetDeterministicMode(h, 0) },
		"cusolverDnSetDeterministicMode(H, 3)":                                        func(hostmem.Ptr) error { return t.DnSetDeterministicMode(h, 3) },
		"cusolverDnSetMathMode(H, 0)":                                                 func(hostmem.Ptr) error { return t.DnSetMathMode(h, 0) },
		"cusolverDnSetMathMode(H, 3)":                                                 func(hostmem.Ptr) error { return t.DnSetMathMode(h, 3) },
		"cusolverDnSetMathMode(H, 6)":                                                 func(hostmem.Ptr) error { return t.DnSetMathMode(h, 6) },
		"cusolverDnDpotrf_bufferSize(H, 5, 4, A, 4, &lw)":                             func(hostmem.Ptr) error { return size(t.PotrfBufferSize(h, 5, 4, a, 4, F64)) },
		"cusolverDnDpotrf_bufferSize(H, 0, -1, A, 4, &lw)":                            func(hostmem.Ptr) error { return size(t.PotrfBufferSize(h, 0, -1, a, 4, F64)) },
		"cusolverDnDpotrf_bufferSize(H, 0, 4, A, 3, &lw)":                             func(hostmem.Ptr) error { return size(t.PotrfBufferSize(h, 0, 4, a, 3, F64)) },
		"cusolverDnDpotrf(H, 5, 4, A, 4, W, 90000, I)":                                func(i hostmem.Ptr) error { return t.Potrf(h, 5, 4, a, 4, w, 90000, i, F64) },
		"cusolverDnDpotrf(H, 0, -1, A, 4, W, 90000, I)":                               func(i hostmem.Ptr) error { return t.Potrf(h, lo, -1, a, 4, w, 90000, i, F64) },
		"cusolverDnDpotrf(H, 0, 0, A, 4, W, 90000, I)":                                func(i hostmem.Ptr) error { return t.Potrf(h, lo, 0, a, 4, w, 90000, i, F64) },
		"cusolverDnDpotrf(H, 0, 4, A, 3, W, 90000, I)":                                func(i hostmem.Ptr) error { return t.Potrf(h, lo, 4, a, 3, w, 90000, i, F64) },
		"cusolverDnDpotrs(H, 0, 4, -1, A, 4, B, 4, I)":                                func(i hostmem.Ptr) error { return t.Potrs(h, lo, 4, -1, a, 4, b, 4, i, F64) },
		"cusolverDnDpotrs(H, 0, 4, 0, A, 4, B, 4, I)":                                 func(i hostmem.Ptr) error { return t.Potrs(h, lo, 4, 0, a, 4, b, 4, i, F64) },
		"cusolverDnDpotrs(H, 0, 4, 1, A, 4, B, 3, I)":                                 func(i hostmem.Ptr) error { return t.Potrs(h, lo, 4, 1, a, 4, b, 3, i, F64) },
		"cusolverDnDpotrs(H, 7, 4, 1, A, 4, B, 4, I)":                                 func(i hostmem.Ptr) error { return t.Potrs(h, 7, 4, 1, a, 4, b, 4, i, F64) },
		"cusolverDnDpotrs(H, 0, 4, 1, A, 4, B, 4, 0)":                                 func(hostmem.Ptr) error { return t.Potrs(h, lo, 4, 1, a, 4, b, 4, 0, F64) },
		"cusolverDnDpotrfBatched(H, 0, 4, (double **)X, 4, I, -1)":                    func(i hostmem.Ptr) error { return t.PotrfBatched(h, lo, 4, x, 4, i, -1, F64) },
		"cusolverDnDpotrfBatched(H, 0, 4, (double **)X, 4, I, 0)":                     func(i hostmem.Ptr) error { return t.PotrfBatched(h, lo, 4, x, 4, i, 0, F64) },
		"cusolverDnDpotrsBatched(H, 0, 4, 2, (double **)X, 4, (double **)X, 4, I, 0)": func(i hostmem.Ptr) error { return t.PotrsBatched(h, lo, 4, 2, x, 4, x, 4, i, 0, F64) },
		"cusolverDnDpotrsBatched(H, 0, 4, 2, (double **)X, 4, (double **)X, 4, I, 1)": func(i hostmem.Ptr) error { return t.PotrsBatched(h, lo, 4, 2, x, 4, x, 4, i, 1, F64) },
		"cusolverDnDpotri(H, 9, 4, A, 4, W, 9000, I)":                                 func(i hostmem.Ptr) error { return t.Potri(h, 9, 4, a, 4, w, 9000, i, F64) },
		"cusolverDnDgetrf_bufferSize(H, -1, 4, A, 4, &lw)":                            func(hostmem.Ptr) error { return size(t.GetrfBufferSize(h, -1, 4, a, 4, F64)) },
		"cusolverDnDgetrf(H, 4, 4, A, 3, W, P, I)":                                    func(i hostmem.Ptr) error { return t.Getrf(h, 4, 4, a, 3, w, p, i, F64) },
		"cusolverDnDgetrf(H, 0, 4, A, 4, W, P, I)":                                    func(i hostmem.Ptr) error { return t.Getrf(h, 0, 4, a, 4, w, p, i, F64) },
		"cusolverDnDgetrs(H, 3, 4, 1, A, 4, P, B, 4, I)":                              func(i hostmem.Ptr) error { return t.Getrs(h, 3, 4, 1, a, 4, p, b, 4, i, F64) },
		"cusolverDnDgetrs(H, 0, 4, -1, A, 4, P, B, 4, I)":                             func(i hostmem.Ptr) error { return t.Getrs(h, 0, 4, -1, a, 4, p, b, 4, i, F64) },
		"cusolverDnDgetrs(H, 0, 4, 1, A, 3, P, B, 4, I)":                              func(i hostmem.Ptr) error { return t.Getrs(h, 0, 4, 1, a, 3, p, b, 4, i, F64) },
		"cusolverDnDgetrs(H, 0, 4, 0, A, 4, P, B, 4, I)":                              func(i hostmem.Ptr) error { return t.Getrs(h, 0, 4, 0, a, 4, p, b, 4, i, F64) },
		"cusolverDnDgeqrf_bufferSize(H, -1, 4, A, 4, &lw)":                            func(hostmem.Ptr) error { return size(t.GeqrfBufferSize(h, -1, 4, a, 4, F64)) },
		"cusolverDnDgeqrf(H, 4, 4, A, 3, B, W, 9000, I)":                              func(i hostmem.Ptr) error { return t.Geqrf(h, 4, 4, a, 3, b, w, 9000, i, F64) },
		"cusolverDnDgeqrf(H, 4, 4, A, 4, B, W, 9000, 0)":                              func(hostmem.Ptr) error { return t.Geqrf(h, 4, 4, a, 4, b, w, 9000, 0, F64) },
		"cusolverDnDgeqrf(H, 0, 4, A, 4, B, W, 9000, I)":                              func(i hostmem.Ptr) error { return t.Geqrf(h, 0, 4, a, 4, b, w, 9000, i, F64) },
		"cusolverDnDorgqr_bufferSize(H, 4, 5, 4, A, 4, B, &lw)":                       func(hostmem.Ptr) error { return size(t.OrgqrBufferSize(h, 4, 5, 4, a, 4, b, F64)) },
		"cusolverDnDorgqr(H, 4, 5, 4, A, 4, B, W, 9000, I)":                           func(i hostmem.Ptr) error { return t.Orgqr(h, 4, 5, 4, a, 4, b, w, 9000, i, F64) },
		"cusolverDnDorgqr(H, 4, 4, 5, A, 4, B, W, 9000, I)":                           func(i hostmem.Ptr) error { return t.Orgqr(h, 4, 4, 5, a, 4, b, w, 9000, i, F64) },
		"cusolverDnDorgqr(H, 4, 4, -1, A, 4, B, W, 9000, I)":                          func(i hostmem.Ptr) error { return t.Orgqr(h, 4, 4, -1, a, 4, b, w, 9000, i, F64) },
		"cusolverDnDorgqr(H, 4, 4, 0, A, 4, B, W, 9000, I)":                           func(i hostmem.Ptr) error { return t.Orgqr(h, 4, 4, 0, a, 4, b, w, 9000, i, F64) },
		"cusolverDnDormqr(H, 0, 2, 4, 4, 4, A, 4, B, X, 4, W, 9000, I)":               func(i hostmem.Ptr) error { return t.Ormqr(h, 0, 2, 4, 4, 4, a, 4, b, x, 4, w, 9000, i, F64) },
		"cusolverDnDormqr(H, 0, 1, 4, 4, 4, A, 4, B, X, 3, W, 9000, I)":               func(i hostmem.Ptr) error { return t.Ormqr(h, 0, 1, 4, 4, 4, a, 4, b, x, 3, w, 9000, i, F64) },
		"cusolverDnZunmqr(H, 0, 1, 2, 2, 2, (void *)A, 4, (void *)B, (void *)X, 4, (void *)W, 9000, I)": func(i hostmem.Ptr) error {
			return t.Ormqr(h, 0, 1, 2, 2, 2, a, 4, b, x, 4, w, 9000, i, C64)
		},
		"cusolverDnDsyevd_bufferSize(H, 2, 0, 4, A, 4, B, &lw)": func(hostmem.Ptr) error { return size(t.SyevdBufferSize(h, 2, 0, 4, a, 4, b, F64)) },
		"cusolverDnDsyevd(H, 1, 0, 0, A, 4, B, W, 9000, I)":     func(i hostmem.Ptr) error { return t.Syevd(h, 1, 0, 0, a, 4, b, w, 9000, i, F64) },
		"cusolverDnDsyevd(H, 3, 0, 4, A, 4, B, W, 9000, I)":     func(i hostmem.Ptr) error { return t.Syevd(h, 3, 0, 4, a, 4, b, w, 9000, i, F64) },
		"cusolverDnDsyevjBatched(H, 1, 0, 4, A, 4, B, W, 9000, I, sj, 0)": func(i hostmem.Ptr) error {
			sj, err := t.DnCreateSyevjInfo()
			if err != nil {
				return err
			}
			defer func() { _ = t.DnDestroySyevjInfo(solver.SyevjInfo_t(sj)) }()
			return t.SyevjBatched(h, 1, 0, 4, a, 4, b, w, 9000, i, solver.SyevjInfo_t(sj), 0, F64)
		},
		"cusolverDnDsygvd(H, 0, 1, 0, 4, A, 4, B, 4, X, W, 9000, I)": func(i hostmem.Ptr) error { return t.Sygvd(h, 0, 1, 0, 4, a, 4, b, 4, x, w, 9000, i, F64) },
		"cusolverDnDgesvd_bufferSize(H, 3, 4, &lw)":                  func(hostmem.Ptr) error { return size(t.GesvdBufferSize(h, 3, 4, F64)) },
		"cusolverDnDgesvd_bufferSize(H, -1, -1, &lw)":                func(hostmem.Ptr) error { return size(t.GesvdBufferSize(h, -1, -1, F64)) },
		"cusolverDnDgesvd(H, 'A', 'A', 3, 4, A, 3, B, X, 3, W, 4, W + 100, 90000, 0, I)": func(i hostmem.Ptr) error {
			return t.Gesvd(h, 'A', 'A', 3, 4, a, 3, b, x, 3, w, 4, w, 9000, 0, i, F64)
		},
		"cusolverDnDgesvd(H, 'X', 'A', 4, 4, A, 4, B, X, 4, W, 4, W + 100, 90000, 0, I)": func(i hostmem.Ptr) error {
			return t.Gesvd(h, 'X', 'A', 4, 4, a, 4, b, x, 4, w, 4, w, 9000, 0, i, F64)
		},
		"cusolverDnDgesvd(H, 'O', 'O', 4, 4, A, 4, B, X, 4, W, 4, W + 100, 90000, 0, I)": func(i hostmem.Ptr) error {
			return t.Gesvd(h, 'O', 'O', 4, 4, a, 4, b, x, 4, w, 4, w, 9000, 0, i, F64)
		},
		"cusolverDnDgesvd(H, 'A', 'A', 4, 4, A, 4, B, X, 3, W, 4, W + 100, 90000, 0, I)": func(i hostmem.Ptr) error {
			return t.Gesvd(h, 'A', 'A', 4, 4, a, 4, b, x, 3, w, 4, w, 9000, 0, i, F64)
		},
		"cusolverDnDgesvd(H, 'A', 'A', 4, 4, A, 4, B, X, 4, W, 3, W + 100, 90000, 0, I)": func(i hostmem.Ptr) error {
			return t.Gesvd(h, 'A', 'A', 4, 4, a, 4, b, x, 4, w, 3, w, 9000, 0, i, F64)
		},
		"cusolverDnDgesvd(H, 'A', 'A', 4, 4, A, 3, B, X, 4, W, 4, W + 100, 90000, 0, I)": func(i hostmem.Ptr) error {
			return t.Gesvd(h, 'A', 'A', 4, 4, a, 3, b, x, 4, w, 4, w, 9000, 0, i, F64)
		},
		"cusolverDnXsyevd_bufferSize(H, pr, 1, 0, 4, 1, A, 4, 0, B, 1, &d, &ho)": func(hostmem.Ptr) error {
			return wide(t.DnXsyevdBufferSize(h, 0, 1, 0, 4, d, a, 4, rt.CUDA_R_32F, b, d))
		},
		"cusolverDnXgeqrf_bufferSize(H, pr, 4, 4, 1, A, 4, 0, B, 1, &d, &ho)": func(hostmem.Ptr) error {
			return wide(t.DnXgeqrfBufferSize(h, 0, 4, 4, d, a, 4, rt.CUDA_R_32F, b, d))
		},
		"cusolverDnIRSParamsSetRefinementSolver(0, 1101)":  func(hostmem.Ptr) error { return t.DnIRSParamsSetRefinementSolver(0, 1101) },
		"cusolverDnIRSParamsSetSolverMainPrecision(ip, 3)": func(hostmem.Ptr) error { return t.DnIRSParamsSetSolverMainPrecision(irs, 3) },
		"cusolverDnIRSParamsSetMaxIters(ip, -1)":           func(hostmem.Ptr) error { return t.DnIRSParamsSetMaxIters(irs, -1) },
		"cusolverDnIRSParamsSetMaxItersInner(ip, 99999)":   func(hostmem.Ptr) error { return t.DnIRSParamsSetMaxItersInner(irs, 99999) },
		"cusolverDnIRSParamsSetTol(ip, -1)":                func(hostmem.Ptr) error { return t.DnIRSParamsSetTol(irs, -1) },
		"cusolverDnIRSInfosDestroy(0)":                     func(hostmem.Ptr) error { return t.DnIRSInfosDestroy(0) },
		"cusolverDnDDgels(H, 3, 4, 1, A, 4, B, 4, X, 4, W, 90000, &lw, I)": func(i hostmem.Ptr) error {
			return t.IrsGels(h, 3, 4, 1, a, 4, b, 4, x, 4, w, 90000, p, i, F64)
		},
		"cusolverDnDsytrf(H, 0, 4, A, 4, P, W, 0, I)":    func(i hostmem.Ptr) error { return t.Sytrf(h, 0, 4, a, 4, p, w, 0, i, F64) },
		"cusolverDnDsytrf(H, 5, 4, A, 4, P, W, 9000, I)": func(i hostmem.Ptr) error { return t.Sytrf(h, 5, 4, a, 4, p, w, 9000, i, F64) },
		"cusolverDnDgebrd_bufferSize(H, 3, 4, &lw)":      func(hostmem.Ptr) error { return size(t.GebrdBufferSize(h, 3, 4, F64)) },
		"cusolverDnDgebrd(H, 3, 4, A, 3, B, B + 10, B + 20, B + 30, W, 9000, I)": func(i hostmem.Ptr) error {
			return t.Gebrd(h, 3, 4, a, 3, b, b, b, b, w, 9000, i, F64)
		},
	}
}

// TestMisuse: statuses and infos of calls that make no sense are an H200's.
func TestMisuse(t *testing.T) {
	th, h := open(t)
	r := &rig{t: t, th: th, h: h, e: F64}
	text, err := os.ReadFile("testdata/h200_misuse.txt")
	if err != nil {
		t.Fatal(err)
	}
	calls, known := r.misuses(), 0
	for line := range strings.Lines(string(text)) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		what, answer, ok := strings.Cut(line, " = ")
		f := calls[what]
		w := strings.Fields(answer)
		if !ok || f == nil || len(w) != 5 {
			continue
		}
		known++
		info := r.memory(4)
		hostmem.Store(info, uint32(0x77777777))
		status := int32(0)
		if err := f(info); err != nil {
			status = Code(err)
		}
		if got := []string{strconv.Itoa(int(status)), strconv.Itoa(int(r.info(info)))}; got[0] != w[0] || got[1] != w[4] {
			t.Errorf("%s: status %s and info %s, on an H200 %s and %s", what, got[0], got[1], w[0], w[4])
		}
	}
	if known != len(calls) {
		t.Errorf("%d of %d calls are recorded", known, len(calls))
	}
}
