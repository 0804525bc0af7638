package analysis

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kudzu/internal/ir"
)

// walk goes through two arrays: one by 4 bytes an iteration, one by a pitch that is known at run time.
const walk = `module "k" params=32
func "k" kernel {
b0:
  %0:i64 = param
  %1:i64 = param off=8
  %2:i32 = param off=16
  %3:i32 = param off=20
  br -> b1
b1:
  %4:i32 = phi [b0 i32:0], [b1 %13]
  %5:i64 = phi [b0 %1], [b1 %14]
  %6:i32 = phi [b0 i32:1], [b1 %15]
  %7:i32 = phi [b0 %2], [b1 %17]
  %8:i64 = sext %4
  %9:i64 = shl %8, i32:2
  %10:i64 = add %0, %9
  %11:i32 = load global align=4 %10
  %12:i32 = mul %7, i32:-3
  %13:i32 = add %4, i32:1
  %14:i64 = add %5, %1
  %15:i32 = add %6, %11
  %16:i32 = add %7, i32:2
  %17:i32 = sub %16, i32:7
  %18:i1 = icmp ne %13, %3
  condbr %18 -> b1, b2
b2:
  exit
}
`

func values(f *ir.Func) map[int]*ir.Value {
	m := map[int]*ir.Value{}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for _, r := range in.Results {
				m[r.ID] = r
			}
		}
	}
	return m
}

func text(l Linear) string {
	s := fmt.Sprint(l.signed(l.C))
	for _, t := range l.Terms {
		s += fmt.Sprintf(" %+d×", l.signed(t.K))
		if t.Ext != ir.Invalid {
			s += t.Ext.String() + " "
		}
		s += t.V.String()
	}
	return s
}

func induction(t *testing.T, text string) (*Induction, map[int]*ir.Value) {
	f := read(t, text)
	f.Rewire()
	return NewInduction(ir.Loops(f, ir.Dominators(f)).Loops[0]), values(f)
}

func TestStride(t *testing.T) {
	n, v := induction(t, walk)
	for id, want := range map[int]string{
		0: "0", 4: "1", 8: "1", 9: "4", 10: "4", 13: "1", // a counter and addresses made of it
		5: "0 +1×%1", 14: "0 +1×%1", // by the pitch
		6: "none", 11: "none", // by what was loaded
		7: "-5", 12: "15", 16: "-5", // down, in two steps
	} {
		got := "none"
		if s, ok := n.Stride(v[id]); ok {
			got = text(s)
		}
		if got != want {
			t.Errorf("%%%d: %s, want %s", id, got, want)
		}
	}
	if x := n.Var(v[4].Def); x == nil || x.Start.Bits != 0 || x.Next != v[13] {
		t.Errorf("%%4: %+v", x)
	}
	if n.Var(v[6].Def) != nil || n.Var(v[13].Def) != nil {
		t.Error("not every value is a basic induction variable")
	}
}

func TestTrips(t *testing.T) {
	n, _ := induction(t, walk)
	got, step, ok := n.Trips(n.Loop.Header.Term(), &Forms{})
	if !ok || step != 1 || text(got) != "0 +1×%3" {
		t.Errorf("%s, step %d, %v", text(got), step, ok)
	}
	n, _ = induction(t, `module "k" params=8
func "k" kernel {
b0:
  %0:i32 = param
  br -> b1
b1:
  %1:i32 = phi [b0 %0], [b1 %2]
  %2:i32 = add %1, i32:-4
  %3:i1 = icmp eq %1, i32:8
  condbr %3 -> b2, b1
b2:
  exit
}
`)
	got, step, ok = n.Trips(n.Loop.Header.Term(), &Forms{}) // start - 4 × (trips - 1) = 8
	if !ok || step != -4 || text(got) != "-4 +1×%0" {
		t.Errorf("down: %s, step %d, %v", text(got), step, ok)
	}
}

// Of two ways back to the header both count.
func TestTwoBackEdges(t *testing.T) {
	const two = `module "k" params=8
func "k" kernel {
b0:
  %%0:i32 = param
  br -> b1
b1:
  %%1:i32 = phi [b0 i32:0], [b2 %%3], [b3 %%4]
  %%2:i1 = icmp lt %%1, %%0
  condbr %%2 -> b2, b3
b2:
  %%3:i32 = add %%1, i32:4
  br -> b1
b3:
  %%4:i32 = add %%1, i32:%d
  %%5:i1 = icmp lt %%4, i32:99
  condbr %%5 -> b1, b4
b4:
  exit
}
`
	for _, c := range []struct {
		step int
		ok   bool
	}{{4, true}, {8, false}} {
		n, v := induction(t, fmt.Sprintf(two, c.step))
		if s, ok := n.Stride(v[1]); ok != c.ok || ok && text(s) != "4" {
			t.Errorf("by 4 or %d: %s, %v", c.step, text(s), ok)
		}
		if _, next := Carried(n.Loop, v[1].Def); next != nil {
			t.Error("two values are carried, not one")
		}
	}
}

// TestForms computes random expressions and their linear forms with the same numbers.
func TestForms(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		f := &ir.Func{Name: "k"}
		b := f.NewBlock("")
		num := map[*ir.Value]uint64{}
		var list [2][]*ir.Value // of 32 and of 64 bits
		types := []ir.Type{ir.I32, ir.I64}
		for i := range 6 {
			v := b.Append(f.NewInst(ir.Param, types[i%2:i%2+1])).Results[0]
			num[v] = ir.ConstInt(v.Type, r.Uint64()).Bits
			list[i%2] = append(list[i%2], v)
		}
		for range 20 {
			w := r.IntN(2)
			pick := func(w int) *ir.Value { return list[w][r.IntN(len(list[w]))] }
			op := []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Shl, ir.Neg, ir.Not, ir.Copy, ir.Trunc, ir.SExt, ir.ZExt}[r.IntN(10)]
			var args []*ir.Value
			switch op {
			case ir.Add, ir.Sub:
				args = []*ir.Value{pick(w), pick(w)}
			case ir.Mul:
				args = []*ir.Value{pick(w), ir.ConstInt(types[w], r.Uint64()>>r.IntN(64))}
			case ir.Shl:
				args = []*ir.Value{pick(w), ir.ConstInt(ir.I32, r.Uint64N(32))}
			case ir.Trunc:
				w, args = 0, []*ir.Value{pick(1)}
			case ir.SExt, ir.ZExt:
				w, args = 1, []*ir.Value{pick(0)}
			default:
				args = []*ir.Value{pick(w)}
			}
			v := b.Append(f.NewInst(op, types[w:w+1], args...)).Results[0]
			num[v] = ir.ConstInt(v.Type, apply(op, args, num)).Bits
			list[w] = append(list[w], v)
		}
		forms := &Forms{}
		for v, want := range num {
			if got := evaluate(forms.Of(v), num); got != want {
				t.Fatalf("seed %d: %s is %#x, its form %s is %#x\n%s", seed, v, want, text(forms.Of(v)), got, f)
			}
		}
	}
}

func apply(op ir.Op, args []*ir.Value, num map[*ir.Value]uint64) uint64 {
	at := func(i int) uint64 {
		if args[i].Const {
			return args[i].Bits
		}
		return num[args[i]]
	}
	switch op {
	case ir.Add:
		return at(0) + at(1)
	case ir.Sub:
		return at(0) - at(1)
	case ir.Mul:
		return at(0) * at(1)
	case ir.Shl:
		return at(0) << at(1)
	case ir.Neg:
		return -at(0)
	case ir.Not:
		return ^at(0)
	case ir.SExt:
		return uint64(int64(int32(at(0))))
	}
	return at(0)
}

func evaluate(l Linear, num map[*ir.Value]uint64) uint64 {
	sum := l.C
	for _, t := range l.Terms {
		x := num[t.V]
		if t.Ext == ir.SExt {
			x = uint64(int64(int32(x)))
		}
		sum += t.K * x
	}
	return sum & l.mask()
}
