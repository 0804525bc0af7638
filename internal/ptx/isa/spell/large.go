package spell

import (
	"fmt"
	"strings"
)

// LargeModule writes a module of about size bytes in the manner of a compiler: kernels of a few hundred lines with loops,
// vectors, shared memory and calls.
func LargeModule(size int) string {
	var b strings.Builder
	b.WriteString(".version 9.0\n.target sm_90\n.address_size 64\n.global .align 4 .b8 table[4096];\n")
	for k := 0; b.Len() < size; k++ {
		fmt.Fprintf(&b, ".visible .entry kernel_%d(\n\t.param .u64 kernel_%d_param_0,\n\t.param .u32 kernel_%d_param_1\n)\n.maxntid 256, 1, 1\n{\n", k, k, k)
		b.WriteString("\t.reg .pred %p<64>;\n\t.reg .b16 %rs<64>;\n\t.reg .b32 %r<2048>;\n\t.reg .b64 %rd<512>;\n\t.reg .f32 %f<2048>;\n\t.shared .align 16 .b8 tile[4096];\n")
		fmt.Fprintf(&b, "\tld.param.u64 %%rd1, [kernel_%d_param_0];\n\tld.param.u32 %%r1, [kernel_%d_param_1];\n\tmov.u32 %%r2, %%tid.x;\n", k, k)
		for i := 3; i < 300; i++ {
			fmt.Fprintf(&b, "\tmad.lo.s32 %%r%d, %%r%d, 4, %%r2;\n", i, i-1)
			fmt.Fprintf(&b, "\tmul.wide.s32 %%rd%d, %%r%d, 4;\n\tadd.s64 %%rd%d, %%rd1, %%rd%d;\n", i, i, i, i)
			fmt.Fprintf(&b, "\tld.global.nc.v4.f32 {%%f%d, %%f%d, %%f%d, %%f%d}, [%%rd%d+%d];\n", 4*i, 4*i+1, 4*i+2, 4*i+3, i, 16*i)
			fmt.Fprintf(&b, "\tfma.rn.ftz.f32 %%f%d, %%f%d, %%f%d, 0f3F800000;\n", i, 4*i, 4*i+1)
			fmt.Fprintf(&b, "\tsetp.lt.u32 %%p%d, %%r%d, %%r1;\n\t@%%p%d bra $L__BB%d_%d;\n", i%60+1, i, i%60+1, k, i)
			fmt.Fprintf(&b, "\t// inline asm\n\tst.shared.f32 [tile+%d], %%f%d;\n\tbar.sync 0;\n$L__BB%d_%d:\n", 4*i, i, k, i)
		}
		b.WriteString("\tst.global.f32 [%rd1], %f3;\n\tret;\n}\n\n")
	}
	return b.String()
}
