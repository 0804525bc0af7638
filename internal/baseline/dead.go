package baseline

import "strings"

// removeDead takes out instructions whose results nothing reads: the emitter writes the uniform and the varying form of some
// values and leaves it to LLVM which is needed.
func removeDead(f *function) {
	uses := make([]int32, len(f.types))
	defs := make([]*inst, len(f.types))
	for _, b := range f.order {
		for _, in := range f.blocks[b].insts {
			if in.res >= 0 {
				defs[in.res] = in
			}
			for _, a := range in.args {
				if a.val >= 0 {
					uses[a.val]++
				}
			}
		}
	}
	var work []*inst
	for v, in := range defs {
		if in != nil && uses[v] == 0 && isPure(in) {
			work = append(work, in)
		}
	}
	dead := map[*inst]bool{}
	for len(work) > 0 {
		in := work[len(work)-1]
		work = work[:len(work)-1]
		dead[in] = true
		for _, a := range in.args {
			if a.val < 0 {
				continue
			}
			if uses[a.val]--; uses[a.val] == 0 && defs[a.val] != nil && isPure(defs[a.val]) {
				work = append(work, defs[a.val])
			}
		}
	}
	if len(dead) == 0 {
		return
	}
	for i := range f.blocks {
		kept := f.blocks[i].insts[:0]
		for _, in := range f.blocks[i].insts {
			if !dead[in] {
				kept = append(kept, in)
			}
		}
		f.blocks[i].insts = kept
	}
}

// isPure reports an instruction that does nothing but give its result. A load that is neither volatile nor atomic is one.
func isPure(in *inst) bool {
	switch in.op {
	case "store", "atomicrmw", "cmpxchg", "fence", "br", "switch", "ret", "unreachable":
		return false
	case "load":
		return in.sub == ""
	case "call":
		return strings.HasPrefix(in.sub, "llvm.") && !strings.HasPrefix(in.sub, "llvm.masked.store") && !strings.HasPrefix(in.sub, "llvm.masked.scatter") &&
			!strings.HasPrefix(in.sub, "llvm.x86.avx512.mask.scatter") && !strings.HasPrefix(in.sub, "llvm.prefetch") || isCopy(in.sub)
	}
	return true
}
