; A value of the same lane in the other row of 16, by v_permlanex16_b32 whose last operand is a literal. By definition out[i] is i ^ 16.
; The emulator, gfx1100 and gfx1201: it does not read literals of this instruction, and the upper eight lanes of each row get that of lane 0 there.
; only: gfx1100 gfx1201
; want: 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 0 1
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.permlanex16.i32(i32, i32, i32, i32, i1, i1)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %x = call i32 @llvm.amdgcn.permlanex16.i32(i32 %i, i32 %i, i32 1985229328, i32 -19088744, i1 false, i1 false)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %x, ptr addrspace(1) %p
  ret void
}
