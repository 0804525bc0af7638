package interp

import "kudzu/internal/ptx/isa"

// ldmatrix and stmatrix: the threads of lanes 8i to 8i+7 give the addresses of the rows of matrix i.

// row is the 16-byte row that lane's address names.
func (p *place) row(w *warp, lane int) []byte {
	t := w.threads[lane%len(w.threads)]
	w.current = t
	return t.mem(p.space, p.at(t), 16, 16)
}

// decodeLdmatrix loads 8×8 matrices of 16-bit elements, or of bytes.
func decodeLdmatrix(d *decoder) step {
	p, dst := d.sharedPlace("p"), d.dests("r")
	rows, _, _ := d.dims()
	trans := d.has(isa.ModTrans)
	if d.typ() == isa.B16 {
		return d.together(func(w *warp, members uint32) {
			for i, slot := range dst {
				var m [8][8]uint64
				for r := range 8 {
					b := p.row(w, 8*i+r)
					for c := range 8 {
						m[r][c] = load(b[2*c:][:2])
					}
				}
				w.eachQuiet(members, func(t *thread) {
					r, c := int(t.lane)/4, int(t.lane)%4*2
					if trans {
						t.r[slot] = m[c][r] | m[c+1][r]<<16
					} else {
						t.r[slot] = m[r][c] | m[r][c+1]<<16
					}
				})
			}
		})
	}
	return d.ldmatrix8(p, dst, rows, trans)
}

// ldmatrix8 loads bytes, or 6- and 4-bit elements widened to bytes (sm_100 and later). A register holds 4 elements of row
// lane/4, matrices of 16 rows taking two. unrecorded.
func (d *decoder) ldmatrix8(p place, dst []int32, rows int, trans bool) step {
	width := 8
	switch d.in.Mod("src_fmt").String() {
	case ".b6x16_p32":
		width = 6
	case ".b4x16_p64":
		width = 4
	}
	each := rows / 8 // registers a matrix takes
	return d.together(func(w *warp, members uint32) {
		for i := 0; i < len(dst); i += each {
			m := make([][16]uint64, rows)
			for r := range rows {
				b := p.row(w, i/each*rows+r)
				lo, hi := load(b[:8]), load(b[8:16])
				for c := range 16 {
					at := uint(c * width)
					v := lo >> at
					if at >= 64 {
						v = hi >> (at - 64)
					} else if at+uint(width) > 64 {
						v |= hi << (64 - at)
					}
					m[r][c] = v & mask(width)
				}
			}
			for k := range each {
				slot := dst[i+k]
				w.eachQuiet(members, func(t *thread) {
					r, c := int(t.lane)/4+8*k, int(t.lane)%4*4
					var v uint64
					for j := range 4 {
						x := m[r%rows][c+j]
						if trans {
							x = m[c+j][r]
						}
						v |= x << (8 * j)
					}
					t.r[slot] = v
				})
			}
		}
	})
}

func decodeStmatrix(d *decoder) step {
	p, src := d.sharedPlace("p"), d.srcs("r")
	trans := d.has(isa.ModTrans)
	if d.typ() == isa.B8 {
		return d.stmatrix8(p, src)
	}
	return d.together(func(w *warp, members uint32) {
		for i := range src {
			var m [8][8]uint64
			w.eachQuiet(members, func(t *thread) {
				v, r, c := src[i].get(t), int(t.lane)/4, int(t.lane)%4*2
				for j := range 2 {
					x := v >> (16 * j) & 0xffff
					if trans {
						m[c+j][r] = x
					} else {
						m[r][c+j] = x
					}
				}
			})
			for r := range 8 {
				b := p.row(w, 8*i+r)
				for c := range 8 {
					store(b[2*c:][:2], m[r][c])
				}
			}
		}
	})
}

// stmatrix8 stores 16×8 bytes transposed, so that rows in memory are 16 bytes: 8 of them a matrix. unrecorded.
func (d *decoder) stmatrix8(p place, src []operand) step {
	return d.together(func(w *warp, members uint32) {
		for i := range src {
			var m [8][16]byte
			w.eachQuiet(members, func(t *thread) {
				v, r, c := src[i].get(t), int(t.lane)/4, int(t.lane)%4*4
				for j := range 4 {
					m[r][c+j] = byte(v >> (8 * j))
				}
			})
			for r := range 8 {
				copy(p.row(w, 8*i+r), m[r][:])
			}
		}
	})
}

// decodeMovmatrix transposes 8×8 across the registers of a warp.
func decodeMovmatrix(d *decoder) step {
	dst, a := d.dst("d"), d.src("a")
	return d.together(func(w *warp, members uint32) {
		var m [8][8]uint64
		w.eachQuiet(members, func(t *thread) {
			v, r, c := a.get(t), int(t.lane)/4, int(t.lane)%4*2
			m[r][c], m[r][c+1] = v&0xffff, v>>16
		})
		w.eachQuiet(members, func(t *thread) {
			r, c := int(t.lane)/4, int(t.lane)%4*2
			t.r[dst] = m[c][r] | m[c+1][r]<<16
		})
	})
}
