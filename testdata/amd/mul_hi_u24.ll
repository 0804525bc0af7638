; The high half of a product of numbers of 24 bits (v_mul_hi_u32_u24): of 0xff000100 and 0xff100000 the low 24 bits count, 0x100 * 0x100000, whose high half is 0.
; The emulator: 0xfe10f0ff.
; want: 0 0
; run: 1 64
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.mulhi.u24(i32, i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %a = call i32 asm "", "=v,0"(i32 -16776960)
  %b = call i32 asm "", "=v,0"(i32 -15728640)
  %r = call i32 @llvm.amdgcn.mulhi.u24(i32 %a, i32 %b)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
