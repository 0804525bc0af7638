package analysis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kudzu/internal/ir"
)

const loop = `module "k" params=24
func "k" kernel {
b0:
  %0:i64 = param
  %1:i32 = param off=8
  %2:i32 = sreg tid.x
  %3:i1 = icmp ge %2, %1
  condbr %3 -> b4, b1
b1:
  %4:i32 = phi [b0 %2], [b2 %7]
  %5:i32 = phi [b0 i32:0], [b2 %8]
  %6:i1 = icmp eq %4, i32:1
  condbr %6 -> b3, b2
b2:
  %7:i32 = shr.u %4, i32:1
  %8:i32 = add %5, i32:1
  %9:i1 = icmp lt %8, i32:30
  condbr %9 -> b1, b3
b3:
  %10:i32 = phi [b1 %5], [b2 %8]
  %11:i64 = zext %2
  %12:i64 = shl %11, i32:2
  %13:i64 = add %0, %12
  store global align=4 %13, %10
  br -> b4
b4:
  exit
}
`

func read(t *testing.T, text string) *ir.Func {
	t.Helper()
	m, err := ir.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Funcs[0]
}

func names(list []*ir.Value) string {
	var s []string
	for _, v := range list {
		s = append(s, fmt.Sprint(v.ID))
	}
	return strings.Join(s, " ")
}

// A phi's result is not live before it, its operands are at the ends of the predecessors only.
func TestLive(t *testing.T) {
	f := read(t, loop)
	l := Live(f, func(*ir.Value) bool { return true })
	for i, want := range []string{"", "0 2", "0 2 4 5", "0 2", ""} {
		if got := names(l.In(f.Blocks[i])); got != want {
			t.Errorf("b%d: %q, want %q", i, got, want)
		}
	}
	l = Live(f, func(v *ir.Value) bool { return v.Type == ir.I64 })
	if got := names(l.In(f.Blocks[2])); got != "0" {
		t.Errorf("of 64 bits: %q", got)
	}
}

// TestLiveByPaths: a value is live where a path leads to a use of it without its definition, on random graphs.
func TestLiveByPaths(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := random(r)
		l := Live(f, func(*ir.Value) bool { return true })
		for _, b := range f.Blocks {
			in := map[*ir.Value]bool{}
			for _, v := range l.In(b) {
				in[v] = true
			}
			for _, d := range f.Blocks {
				for _, x := range d.Insts {
					for _, v := range x.Results {
						if want := usedFrom(b, v, map[*ir.Block]bool{}); in[v] != want {
							t.Fatalf("seed %d: %%%d at b%d: live %v, want %v\n%s", seed, v.ID, b.ID, in[v], want, f)
						}
					}
				}
			}
		}
	}
}

func usedFrom(b *ir.Block, v *ir.Value, seen map[*ir.Block]bool) bool {
	if seen[b] {
		return false
	}
	seen[b] = true
	for _, in := range b.Insts {
		for _, a := range in.Args {
			if a == v && in.Op != ir.Phi {
				return true
			}
		}
		if v.Def == in {
			return false
		}
	}
	for _, s := range b.Succs() {
		if usedFrom(s, v, seen) {
			return true
		}
	}
	return false
}

// random is a function whose uses need not follow their definitions: liveness does not mind.
func random(r *rand.Rand) *ir.Func {
	f := &ir.Func{Name: "k"}
	n := 2 + r.IntN(8)
	var values []*ir.Value
	for range n {
		b := f.NewBlock("")
		for range r.IntN(4) {
			args := []*ir.Value{ir.ConstInt(ir.I32, 1), ir.ConstInt(ir.I32, 2)}
			for i := range args {
				if len(values) > 0 && r.IntN(3) > 0 {
					args[i] = values[r.IntN(len(values))]
				}
			}
			in := f.NewInst(ir.Add, []ir.Type{ir.I32}, args...)
			in.Block = b
			b.Insts = append(b.Insts, in)
			values = append(values, in.Results...)
		}
	}
	for _, b := range f.Blocks {
		end := f.NewInst(ir.Br, nil)
		end.Targets = []*ir.Block{f.Blocks[r.IntN(n)]}
		if r.IntN(2) == 0 && len(values) > 0 {
			end = f.NewInst(ir.CondBr, nil, values[r.IntN(len(values))])
			end.Targets = []*ir.Block{f.Blocks[r.IntN(n)], f.Blocks[r.IntN(n)]}
		}
		end.Block = b
		b.Insts = append(b.Insts, end)
	}
	return f
}

func TestBetween(t *testing.T) {
	f := read(t, loop)
	f.Rewire()
	b := f.Blocks
	got := Between(b[0], b[4])
	if len(got) != 3 || !got[b[1]] || !got[b[2]] || !got[b[3]] {
		t.Errorf("from the first branch: %v", got)
	}
	if got = Between(b[1], b[3]); len(got) != 2 || !got[b[1]] || !got[b[2]] {
		t.Errorf("of the loop: %v", got)
	}
}
