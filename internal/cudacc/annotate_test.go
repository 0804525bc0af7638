package cudacc

import "testing"

func TestAnnotations(t *testing.T) {
	ir := `@m = addrspace(1) externally_initialized global i32 5, align 4
@.str = private unnamed_addr constant [14 x i8] c"kudzu.managed\00", section "llvm.metadata"
@.str.1 = private unnamed_addr constant [5 x i8] c"m.cu\00", section "llvm.metadata"
@.str.2 = private unnamed_addr constant [19 x i8] c"kudzu.cluster_dims\00", section "llvm.metadata"
@.args = private unnamed_addr constant { i32, i32 } { i32 4, i32 2 }, section "llvm.metadata"
@llvm.global.annotations = appending global [2 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr addrspacecast (ptr addrspace(1) @m to ptr), ptr @.str, ptr @.str.1, i32 3, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr @_Z1kPi, ptr @.str.2, ptr @.str.1, i32 4, ptr @.args }], section "llvm.metadata"
`
	ptx := `.visible .global .align 4 .u32 m = 5;
.visible .global .align 8 .b8 mm[24];
.visible .entry _Z1kPi(
	.param .u64 _Z1kPi_param_0
)
{
`
	want := `.visible .global .attribute(.managed) .align 4 .u32 m = 5;
.visible .global .align 8 .b8 mm[24];
.visible .entry _Z1kPi(
	.param .u64 _Z1kPi_param_0
)
.explicitcluster
.reqnctapercluster 4, 2, 1
{
`
	if got := ReadAnnotations(ir).Mark(ptx); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
