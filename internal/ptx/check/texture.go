package check

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// texSpelling: which geometries take which coordinates.
func texSpelling(c *checker, in *ptx.Inst) bool {
	switch in.Mod("geom") {
	case isa.ModCube, isa.ModAcube:
		if in.Mod("ctype") != isa.ModF32 {
			return c.refuse(in, "Floating-point coordinates required")
		}
	case isa.Mod2dms, isa.ModA2dms:
		if in.Mod("grad") != 0 {
			return c.refuse(in, "Illegal modifier 'Multi-sample geometry' for instruction 'tex.grad'")
		}
		if in.Mod("ctype") != isa.ModS32 {
			return c.refuse(in, "Integer coordinates require .s32 instruction type")
		}
	}
	return true
}

// texOffsets is how many offsets a geometry takes (0: none), and how many derivatives.
func texOffsets(geom isa.Mod) (offsets, grads int) {
	switch geom {
	case isa.Mod1d, isa.ModA1d:
		return 1, 1
	case isa.Mod2d, isa.ModA2d, isa.Mod2dms, isa.ModA2dms:
		return 2, 2
	case isa.Mod3d:
		return 4, 4
	}
	return 0, 4 // cubes
}

// texRule checks the operands whose length follows from the geometry, and the depth comparison.
func texRule(c *checker, in *ptx.Inst) {
	offsets, grads := texOffsets(in.Mod("geom"))
	for i, o := range in.Form.Operands() {
		a := &in.Args[i]
		if a.Kind == ptx.None {
			continue
		}
		if a.Kind == ptx.OpTexAddr {
			c.coordinates(in, a)
			continue
		}
		n := 0
		switch a.Kind {
		case ptx.OpVec:
			n = len(a.Elems)
		case ptx.OpReg, ptx.OpImm:
			if o.Name == "e" {
				n = 1
			}
		}
		switch o.Name {
		case "e":
			if n != offsets || offsets == 0 {
				c.errorf(a.Pos, "Operand vector size doesn't match geometry for instruction '%v'", in.Op())
			}
		case "dPdx", "dPdy":
			if n != grads {
				c.errorf(a.Pos, "Vector expected for argument %d", i)
			}
		case "f":
			if in.Mod("ctype") != isa.ModF32 || in.Mod("geom") == isa.Mod3d {
				c.mismatch(in)
			}
		}
	}
}

// coordinates checks [t, {x, y}] and [t, s, {x, y}]: the handle is a variable or 64 bits, the coordinates are as many words of
// 32 bits as the geometry has, rounded up to a vector's size.
func (c *checker) coordinates(in *ptx.Inst, a *ptx.Operand) {
	want := 4
	switch in.Mod("geom") {
	case isa.Mod1d:
		want = 1
	case isa.Mod2d, isa.ModA1d:
		want = 2
	}
	if h := &a.Elems[0]; h.Kind == ptx.OpReg && c.b.Regs[h.Reg].Type.Bits() != 64 {
		c.mismatch(in)
		return
	}
	v := &a.Elems[len(a.Elems)-1]
	n, bits := 1, 32
	switch {
	case v.Kind == ptx.OpVec:
		n, bits = c.vectorShape(v)
	case v.Kind == ptx.OpReg:
		bits = c.b.Regs[v.Reg].Type.Bits()
	}
	if n < want || n == 3 || n > 4 || bits != 32 {
		c.errorf(a.Pos, "Operand vector size doesn't match geometry for instruction '%v'", in.Op())
	}
}

// surfaceRule checks the coordinates of a surface.
func surfaceRule(c *checker, in *ptx.Inst) {
	for i := range in.Args {
		if in.Args[i].Kind == ptx.OpTexAddr {
			c.coordinates(in, &in.Args[i])
		}
	}
}
