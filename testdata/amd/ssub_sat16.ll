; llvm.ssub.sat of i16 (v_sub_i16, v_sub_nc_i16 with clamp): 0x7e00 - 0xf400 is 0x7fff.
; The emulator: 0x8a00.
; want: 7fff 7fff
; run: 1 64
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i16 @llvm.ssub.sat.i16(i16, i16)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %a = call i16 asm "", "=v,0"(i16 32256)
  %b = call i16 asm "", "=v,0"(i16 -3072)
  %s = call i16 @llvm.ssub.sat.i16(i16 %a, i16 %b)
  %r = zext i16 %s to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
