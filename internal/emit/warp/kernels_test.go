package warp_test

import (
	"math"
	"os"
	"testing"
)

func bitsOf(f float32) uint32 { return math.Float32bits(f) }

func source(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// variants are block shapes to compile for; the zero one is the generic variant.
func variants(block [3]uint32) map[string][3]uint32 {
	return map[string][3]uint32{"specialised": block, "generic": {}}
}

var cpus = []string{"", "avx2"}

func each(t *testing.T, file, name string, block [3]uint32, run func(t *testing.T, k *kernel)) {
	for v, b := range variants(block) {
		for _, cpu := range cpus {
			t.Run(v+cpu, func(t *testing.T) { run(t, compile(t, fromPTX(t, source(t, file), name), b, cpu)) })
		}
	}
}

func TestSaxpy(t *testing.T) {
	block := [3]uint32{256, 1, 1}
	each(t, "basic.ptx", "saxpy", block, func(t *testing.T, k *kernel) {
		const n = 1000
		x, y, want := make([]float32, n), make([]float32, n+100), make([]float32, n+100)
		for i := range x {
			x[i], y[i] = float32(i), float32(2*i)
			want[i] = float32(3*float64(x[i]) + float64(y[i]))
		}
		if r := k.launch(t, [3]uint32{4, 1, 1}, block, 0, int32(n), float32(3), x, y); r != 0 {
			t.Fatal("stopped:", r)
		}
		for i := range y {
			if y[i] != want[i] {
				t.Fatalf("y[%d] = %v, not %v", i, y[i], want[i])
			}
		}
	})
}

func ints(n int, f func(i int) int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = f(i)
	}
	return s
}

func floats(n int, f func(i int) float32) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = f(i)
	}
	return s
}

func compare[T comparable](t *testing.T, name string, got, want []T) {
	t.Helper()
	bad := 0
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s[%d] = %v, not %v", name, i, got[i], want[i])
			if bad++; bad > 4 {
				t.FailNow()
			}
		}
	}
}

func ok(t *testing.T, r uint32) {
	t.Helper()
	if r != 0 {
		t.Fatal("stopped:", r)
	}
}

func TestMandel(t *testing.T) {
	block := [3]uint32{64, 1, 1}
	each(t, "basic.ptx", "mandel", block, func(t *testing.T, k *kernel) {
		const w, h, maxit = 200, 20, 100
		out, want := make([]int32, w*h), make([]int32, w*h)
		for py := 0; py < h; py++ {
			for px := 0; px < w; px++ {
				cx := float32(px)*(float32(3)/w) + -2
				cy := float32(py)*(float32(2)/h) + -1
				var x, y float32
				i := int32(0)
				for ; i < maxit; i++ {
					x2, y2 := x*x, y*y
					if x2+y2 > 4 {
						break
					}
					y = float32(2*x*y) + cy
					x = float32(x2-y2) + cx
				}
				want[py*w+px] = i
			}
		}
		ok(t, k.launch(t, [3]uint32{4, h, 1}, block, 0, int32(w), int32(h), int32(maxit), out))
		compare(t, "out", out, want)
	})
}

func matmul(t *testing.T, name string, tile uint32) {
	block := [3]uint32{tile, tile, 1}
	each(t, "basic.ptx", name, block, func(t *testing.T, k *kernel) {
		const n = 96
		a := floats(n*n, func(i int) float32 { return float32(i%7) - 3 })
		b := floats(n*n, func(i int) float32 { return float32(i%5) - 2 })
		c, want := make([]float32, n*n), make([]float32, n*n)
		for i := 0; i < n; i++ {
			for j := 0; j < n; j++ {
				for l := 0; l < n; l++ {
					want[i*n+j] += a[i*n+l] * b[l*n+j]
				}
			}
		}
		ok(t, k.launch(t, [3]uint32{n / tile, n / tile, 1}, block, 0, int32(n), a, b, c))
		compare(t, "c", c, want)
	})
}

func TestMatmul32(t *testing.T) { matmul(t, "matmul32", 32) }
func TestMatmul16(t *testing.T) { matmul(t, "matmul16", 16) }

func TestReduce(t *testing.T) {
	for _, name := range []string{"reduce", "tree"} {
		for _, threads := range []uint32{256, 64, 32} {
			block := [3]uint32{threads, 1, 1}
			each(t, "basic.ptx", name, block, func(t *testing.T, k *kernel) {
				n := 3 * int(threads)
				x := floats(n, func(i int) float32 { return float32(i % 11) })
				out := make([]float32, 3)
				var sum, want float32
				for _, v := range x {
					want += v
				}
				ok(t, k.launch(t, [3]uint32{3, 1, 1}, block, 0, int32(n), x, out))
				for _, v := range out {
					sum += v
				}
				if sum != want {
					t.Errorf("%s of %d: %v, not %v (%v)", name, threads, sum, want, out)
				}
			})
		}
	}
}

func TestHistogram(t *testing.T) {
	block := [3]uint32{256, 1, 1}
	each(t, "basic.ptx", "histogram", block, func(t *testing.T, k *kernel) {
		x := make([]byte, 5000)
		want, out := make([]uint32, 256), make([]uint32, 256)
		for i := range x {
			x[i] = byte(i * i / 7)
			want[x[i]]++
		}
		ok(t, k.launch(t, [3]uint32{3, 1, 1}, block, 0, int32(len(x)), x, out))
		compare(t, "out", out, want)
	})
}

func TestStencil(t *testing.T) {
	block := [3]uint32{96, 1, 1}
	each(t, "basic.ptx", "stencil", block, func(t *testing.T, k *kernel) {
		const w, h = 150, 9
		x := floats(w*h, func(i int) float32 { return float32(i * i % 31) })
		y, want := make([]float32, w*h), make([]float32, w*h)
		for j := 0; j < h; j++ {
			for i := 0; i < w; i++ {
				at := func(i, j int) float32 { return x[j*w+i] }
				c := at(i, j)
				l, r, u, d := c, c, c, c
				if i > 0 {
					l = at(i-1, j)
				}
				if i < w-1 {
					r = at(i+1, j)
				}
				if j > 0 {
					u = at(i, j-1)
				}
				if j < h-1 {
					d = at(i, j+1)
				}
				want[j*w+i] = 0.2 * ((((c + l) + r) + u) + d)
			}
		}
		ok(t, k.launch(t, [3]uint32{2, h, 1}, block, 0, int32(w), int32(h), x, y))
		compare(t, "y", y, want)
	})
}

func TestNbody(t *testing.T) {
	block := [3]uint32{256, 1, 1}
	each(t, "basic.ptx", "nbody", block, func(t *testing.T, k *kernel) {
		const n = 512
		p := floats(4*n, func(i int) float32 { return float32(i*i%97) / 97 })
		out, want := make([]float32, 4*n), make([]float32, 4*n)
		for i := 0; i < n; i++ {
			var ax, ay, az float32
			for j := 0; j < n; j++ {
				dx, dy, dz := p[4*j]-p[4*i], p[4*j+1]-p[4*i+1], p[4*j+2]-p[4*i+2]
				d2 := float32(float32(float32(dx*dx)+float32(dy*dy))+float32(dz*dz)) + 1e-6
				inv := 1 / float32(math.Sqrt(float64(d2)))
				f := float32(float32(p[4*j+3]*inv)*inv) * inv
				ax += float32(dx * f)
				ay += float32(dy * f)
				az += float32(dz * f)
			}
			want[4*i], want[4*i+1], want[4*i+2] = ax, ay, az
		}
		ok(t, k.launch(t, [3]uint32{2, 1, 1}, block, 0, int32(n), p, out))
		for i := range want {
			if d := math.Abs(float64(out[i] - want[i])); d > 1e-3*math.Abs(float64(want[i]))+1e-5 {
				t.Fatalf("out[%d] = %v, not %v", i, out[i], want[i])
			}
		}
	})
}

func TestSpmv(t *testing.T) {
	block := [3]uint32{128, 1, 1}
	each(t, "basic.ptx", "spmv", block, func(t *testing.T, k *kernel) {
		const n = 300
		row := make([]int32, n+1)
		var col []int32
		var val []float32
		for i := 0; i < n; i++ {
			for j := 0; j < i*i%13; j++ {
				col, val = append(col, int32((i*7+j*j*31)%n)), append(val, float32(j+1))
			}
			row[i+1] = int32(len(col))
		}
		x := floats(n, func(i int) float32 { return float32(i % 10) })
		y, want := make([]float32, n), make([]float32, n)
		for i := 0; i < n; i++ {
			for j := row[i]; j < row[i+1]; j++ {
				want[i] += val[j] * x[col[j]]
			}
		}
		ok(t, k.launch(t, [3]uint32{3, 1, 1}, block, 0, int32(n), row, col, val, x, y))
		compare(t, "y", y, want)
	})
}

func TestDivergence(t *testing.T) {
	const n = 1000
	block := [3]uint32{128, 1, 1}
	x := ints(n, func(i int) int32 { return int32(i*2654435761>>8)%100000 + 1 })
	for i := range x {
		if x[i] <= 0 {
			x[i] = 1 - x[i]
		}
	}
	want := map[string][]int32{"collatz": make([]int32, n), "sw": make([]int32, n)}
	for i, v := range x {
		c := int32(0)
		for u := v; u != 1; {
			if u&1 != 0 {
				if u = 3*u + 1; u < 0 {
					c = -1
					break
				}
			} else {
				u >>= 1
			}
			if c++; c > 500 {
				break
			}
		}
		want["collatz"][i] = c
		r := int32(0)
	loop:
		for k := int32(0); k < 4; k++ {
			switch v >> (4 * k) & 7 {
			case 0:
				r++
			case 1:
				r ^= v
			case 2:
				r = r*3 - 7
			case 3:
				r -= 7
			case 4:
				if r&1 != 0 {
					continue loop
				}
				r += 5
			case 5:
				r *= r
			default:
				r ^= 0x55
			}
			r += k
		}
		want["sw"][i] = r
	}
	for _, name := range []string{"collatz", "sw"} {
		t.Run(name, func(t *testing.T) {
			each(t, "basic.ptx", name, block, func(t *testing.T, k *kernel) {
				y := make([]int32, n)
				ok(t, k.launch(t, [3]uint32{8, 1, 1}, block, 0, int32(n), x, y))
				compare(t, "y", y, want[name])
			})
		})
	}
}

func TestBarrierPerWarp(t *testing.T) {
	block := [3]uint32{128, 1, 1}
	each(t, "basic.ptx", "divbar", block, func(t *testing.T, k *kernel) {
		y, want := make([]int32, 128), make([]int32, 128)
		for i := range want {
			want[i] = 10
			if i < 64 {
				want[i] = 1010
			}
		}
		ok(t, k.launch(t, [3]uint32{1, 1, 1}, block, 0, int32(4), y))
		compare(t, "y", y, want)
	})
}
