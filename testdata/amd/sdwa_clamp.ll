; llvm.usub.sat of 32 and a byte (v_sub_u32_sdwa with clamp on gfx942): 32 - 0xaf is 0.
; The emulator, gfx942: 0xffffff71.
; want: 0 0
; run: 1 64
; not: gfx1100 gfx1201
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.usub.sat.i32(i32, i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %a = call i32 asm "", "=v,0"(i32 -1191173201)
  %b = and i32 %a, 255
  %s = call i32 asm "", "=v,0"(i32 32)
  %r = call i32 @llvm.usub.sat.i32(i32 %s, i32 %b)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
