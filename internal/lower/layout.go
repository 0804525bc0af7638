package lower

import (
	"fmt"

	"kudzu/internal/ir"
	"kudzu/internal/ptx"
)

// unique makes a name that no other shared variable or slot has.
func (l *lowerer) unique(name string) string {
	u := name
	for i := 1; l.taken[u]; i++ {
		u = fmt.Sprintf("%s.%d", name, i)
	}
	l.taken[u] = true
	return u
}

// sharedName is the symbol of a shared variable; "" is the dynamic area, which all unsized externs are.
func (l *lowerer) sharedName(v *ptx.Var) string {
	if v.Size == 0 && v.Linkage == ptx.Extern {
		l.out.DynamicAlign = max(l.out.DynamicAlign, v.Align, 1)
		return ""
	}
	n, ok := l.names[v]
	if !ok {
		n = l.unique(v.Name)
		l.names[v] = n
		l.shared = append(l.shared, v)
	}
	return n
}

// layoutShared gives the static shared variables that the kernel uses their places, the strictest alignment first so that
// no space is lost between them. A kernel and functions that are compiled by themselves have the same ones, in the text's order.
func (l *lowerer) layoutShared() {
	vars := append([]*ptx.Var(nil), l.shared...)
	first := 0
	if l.plan.lazy {
		for first < len(vars) && l.lazy[vars[first]] {
			first++
		}
	}
	for i := first + 1; i < len(vars); i++ { // stable: first use decides among equals
		for j := i; j > first && vars[j-1].Align < vars[j].Align; j-- {
			vars[j-1], vars[j] = vars[j], vars[j-1]
		}
	}
	off := 0
	for _, v := range vars {
		l.out.SharedAlign = max(l.out.SharedAlign, v.Align)
		off = alignUp(off, v.Align)
		l.out.Shared = append(l.out.Shared, ir.SharedVar{Name: l.names[v], Offset: off, Size: int(v.Size)})
		off += int(v.Size)
	}
	l.out.SharedBytes = off
}

// lazyShared gives all shared variables of the module a place, before any other.
func (l *lowerer) lazyShared() {
	l.lazy = map[*ptx.Var]bool{}
	for _, v := range l.m.Vars {
		if v.Space == ptx.SpaceShared {
			l.lazy[v] = true
			l.sharedName(v)
		}
	}
}

// slot is the local slot of a variable. A function is never active twice (recursion is not inlined), so one slot a variable
// serves every inlined copy.
func (l *lowerer) slot(v *ptx.Var) string {
	n, ok := l.names[v]
	if !ok {
		n = l.unique(v.Name)
		l.names[v] = n
		align := max(v.Align, 1)
		if isCallParam(v) { // is copied in words of up to 8 bytes, at multiples of their size from its start
			align = max(align, 8)
		}
		off := alignUp(l.f.LocalBytes, align)
		l.f.Slots = append(l.f.Slots, ir.Slot{Name: n, Offset: off, Size: int(v.Size), Align: align})
		l.f.LocalBytes = off + int(v.Size)
	}
	return n
}

// module notes a use of a module variable.
func (l *lowerer) module(name string) string {
	if !l.known[name] {
		l.known[name] = true
		l.out.Vars = append(l.out.Vars, name)
	}
	return name
}

func alignUp(n, a int) int {
	if a < 1 {
		a = 1
	}
	return (n + a - 1) / a * a
}
