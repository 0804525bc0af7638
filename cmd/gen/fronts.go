package main

import "kudzu/internal/spec"

// stride is the distance of two symbols in a front, KZ_STRIDE in c/base/base.h: the
// base computes a symbol's address from the first one's.
const stride = 32

// machines are the instruction sets fronts are written for.
var machines = []struct {
	name  string
	front func(*out, front)
}{
	{"amd64", frontAMD64},
	{"arm64", frontARM64},
}

// writeFronts writes, for every library, one jump a symbol and the list of what it exports.
func writeFronts(w *world) error {
	for _, f := range w.fronts() {
		from := "internal/spec/" + f.api.Name + ".api"
		for _, m := range machines {
			var o out
			o.header("//", from)
			m.front(&o, f)
			w.files["c/front/zfront_"+f.Key+"_"+m.name+".S"] = o.Bytes()
		}
		var o out
		o.header("#", from)
		if f.Node != "" {
			o.f("%s ", f.Node)
		}
		o.f("{\nglobal:\n")
		for _, s := range f.syms {
			o.f("\t%s;\n", s.Name)
		}
		o.f("local:\n\t*;\n};\n")
		w.files["c/front/zfront_"+f.Key+".map"] = o.Bytes()
	}
	return nil
}

func frontAMD64(o *out, f front) {
	o.f("// Every symbol jumps through the base's table with its index in r10, which no C\n// argument uses; arguments, in registers or on the stack, stay as they are.\n\n")
	o.f(".macro entry name, index\n\t.balign %d\n\t.globl\t\\name\n\t.type\t\\name, @function\n\\name:\n\tendbr64\n\tmovl\t$\\index, %%r10d\n\tmovq\tkz_table_%s@GOTPCREL(%%rip), %%r11\n\tjmp\t*8*\\index(%%r11)\n\t.size\t\\name, .-\\name\n.endm\n\n", stride, f.Key)
	o.f("\t.text\n\t.balign %d\nfirst:\n", stride)
	entries(o, f.syms)
	o.f("\n\t.balign 16\n\t.type\tattach, @function\nattach:\n\tendbr64\n\tmovl\t$%d, %%edi\n\tleaq\tfirst(%%rip), %%rsi\n\tjmp\tkz_attach_front@PLT\n\t.size\tattach, .-attach\n\n", f.number)
	o.f("\t.section .init_array,\"aw\"\n\t.balign 8\n\t.quad\tattach\n\n\t.section .note.GNU-stack,\"\",@progbits\n")
	o.f("\t.section .note.gnu.property,\"a\"\n\t.balign 8\n\t.long\t4, 16, 5\n\t.asciz\t\"GNU\"\n\t.long\t0xc0000002, 4, 3, 0\n")
}

func frontARM64(o *out, f front) {
	o.f("// Every symbol jumps through the base's table with its index in w17, a register the\n// linker owns between calls; arguments stay as they are.\n\n")
	o.f(".macro entry name, index\n\t.balign %d\n\t.globl\t\\name\n\t.type\t\\name, %%function\n\\name:\n\tbti\tc\n\tadrp\tx16, :got:kz_table_%[2]s\n\tldr\tx16, [x16, #:got_lo12:kz_table_%[2]s]\n\tmov\tw17, #\\index\n\tldr\tx16, [x16, #8*\\index]\n\tbr\tx16\n\t.size\t\\name, .-\\name\n.endm\n\n", stride, f.Key)
	o.f("\t.text\n\t.balign %d\nfirst:\n", stride)
	entries(o, f.syms)
	o.f("\n\t.balign 16\n\t.type\tattach, %%function\nattach:\n\tbti\tc\n\tmov\tw0, #%d\n\tadr\tx1, first\n\tb\tkz_attach_front\n\t.size\tattach, .-attach\n\n", f.number)
	o.f("\t.section .init_array,\"aw\"\n\t.balign 8\n\t.xword\tattach\n\n\t.section .note.GNU-stack,\"\",%%progbits\n")
}

func entries(o *out, syms []spec.Symbol) {
	for i, s := range syms {
		o.f("\tentry\t%s, %d\n", s.Name, i)
	}
}
