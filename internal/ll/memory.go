package ll

import "strconv"

// Access is how memory is accessed; the zero Access is a plain one with the type's own alignment.
type Access struct {
	Align    int
	Volatile bool
	Order    string // of an atomic one, with its scope: `syncscope("agent") monotonic`
	Meta     string // "!invariant.load !0"
}

// text is what stands before the type and behind the operands.
func (a Access) text() (before, behind string) {
	if a.Order != "" {
		before, behind = "atomic ", " "+a.Order
	}
	if a.Volatile {
		before += "volatile "
	}
	if a.Align > 0 {
		behind += ", align " + strconv.Itoa(a.Align)
	}
	if a.Meta != "" {
		behind += ", " + a.Meta
	}
	return before, behind
}

// Load reads a value of type t; align 0 is the type's own.
func (f *Func) Load(t Type, p Val, align int) Val { return f.LoadAs(t, p, Access{Align: align}) }

// LoadAs reads a value of type t.
func (f *Func) LoadAs(t Type, p Val, a Access) Val {
	check(p.T.IsPtr() && p.T.Lanes() == 1, "load by %s", p.T)
	before, behind := a.text()
	return f.result(t, "load ", before, string(t), ", ", string(p.T), " ", p.S, behind)
}

// Store writes x; align 0 is the type's own.
func (f *Func) Store(x, p Val, align int) { f.StoreAs(x, p, Access{Align: align}) }

// StoreAs writes x.
func (f *Func) StoreAs(x, p Val, a Access) {
	check(p.T.IsPtr() && p.T.Lanes() == 1, "store by %s", p.T)
	before, behind := a.text()
	f.write("", "store ", before, string(x.T), " ", x.S, ", ", string(p.T), " ", p.S, behind)
}

// RMW writes an atomicrmw, and gives what memory held.
func (f *Func) RMW(op string, p, x Val, order string, align int) Val {
	check(p.T.IsPtr(), "atomicrmw by %s", p.T)
	return f.Op(x.T, "atomicrmw %s %s, %s %s, align %d", op, p, x, order, align)
}

// CmpXchg writes val where memory holds want. It gives what memory held, and whether that was want. orders are those of success and
// failure, with their scope.
func (f *Func) CmpXchg(p, want, val Val, orders string, align int) Val {
	check(p.T.IsPtr() && want.T == val.T, "cmpxchg by %s of %s and %s", p.T, want.T, val.T)
	return f.Op(Struct(want.T, "i1"), "cmpxchg %s, %s, %s %s, align %d", p, want, val, orders, align)
}

// Fence orders accesses: `syncscope("workgroup") release`.
func (f *Func) Fence(order string) { f.Do("fence %s", order) }

// GEP is p moved by index elements; either may be a vector.
func (f *Func) GEP(elem Type, p, index Val) Val {
	check(p.T.IsPtr() && index.T.IsInt(), "getelementptr of %s by %s", p.T, index.T)
	t := Vec(max(p.T.Lanes(), index.T.Lanes()), p.T.Elem())
	return f.result(t, "getelementptr ", string(elem), ", ", string(p.T), " ", p.S, ", ", string(index.T), " ", index.S)
}

// Offset is p moved by so many bytes.
func (f *Func) Offset(p Val, bytes int64) Val { return f.GEP("i8", p, Int("i64", bytes)) }

// Extract is element i of a vector.
func (f *Func) Extract(v Val, i int) Val { return f.ExtractAt(v, Int("i64", int64(i))) }

// ExtractAt is an element of a vector by a number that is known only when it runs.
func (f *Func) ExtractAt(v, i Val) Val {
	check(v.T.isVector() && i.T.IsInt(), "extractelement of %s", v.T)
	return f.result(v.T.Elem(), "extractelement ", string(v.T), " ", v.S, ", ", string(i.T), " ", i.S)
}

// Insert is v with x as element i.
func (f *Func) Insert(v, x Val, i int) Val {
	check(v.T.isVector() && v.T.Elem() == x.T, "insertelement of %s into %s", x.T, v.T)
	return f.result(v.T, "insertelement ", string(v.T), " ", v.S, ", ", string(x.T), " ", x.S, ", i64 ", strconv.Itoa(i))
}

// Shuffle picks elements of a and b (numbered behind a's); -1 is any. All of a in its order is a.
func (f *Func) Shuffle(a, b Val, pick []int) Val {
	check(a.T == b.T && a.T.isVector(), "shufflevector of %s and %s", a.T, b.T)
	if n, _ := a.T.Split(); n == len(pick) && inOrder(pick) {
		return a
	}
	text := make([]byte, 0, 64+2*len(a.T)+8*len(pick))
	text = append(text, "shufflevector "...)
	text = append(text, a.String()...)
	text = append(text, ", "...)
	text = append(text, b.String()...)
	text = append(text, ", <"...)
	text = strconv.AppendInt(text, int64(len(pick)), 10)
	text = append(text, " x i32> <"...)
	for i, l := range pick {
		if i > 0 {
			text = append(text, ", "...)
		}
		if l < 0 {
			text = append(text, "i32 poison"...)
			continue
		}
		text = append(text, "i32 "...)
		text = strconv.AppendInt(text, int64(l), 10)
	}
	return f.result(Vec(len(pick), a.T.Elem()), string(append(text, '>')))
}

// inOrder reports elements that stay where they are.
func inOrder(pick []int) bool {
	for i, l := range pick {
		if l != i && l >= 0 {
			return false
		}
	}
	return true
}

// ExtractValue is field i of a struct.
func (f *Func) ExtractValue(v Val, i int) Val {
	return f.result(v.T.Field(i), "extractvalue ", string(v.T), " ", v.S, ", ", strconv.Itoa(i))
}

// InsertValue is v with x as field i.
func (f *Func) InsertValue(v, x Val, i int) Val {
	check(v.T.Field(i) == x.T, "insertvalue of %s into %s", x.T, v.T)
	return f.Op(v.T, "insertvalue %s, %s, %d", v, x, i)
}

// Ret returns x; the zero Val returns nothing.
func (f *Func) Ret(x Val) {
	if x.IsZero() {
		f.Do("ret void")
		return
	}
	f.Do("ret %s", x)
}

// Unreachable ends a block that nothing goes on behind.
func (f *Func) Unreachable() { f.Do("unreachable") }
