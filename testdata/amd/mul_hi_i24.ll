; The high half of a product of numbers of 24 bits (v_mul_hi_i32_i24): the low 24 bits of 0x12800000 are -0x800000, and 0x21 times that -0x10800000, whose high half is -1.
; The emulator: 2.
; want: ffffffff ffffffff
; run: 1 64
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.mulhi.i24(i32, i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %a = call i32 asm "", "=v,0"(i32 33)
  %b = call i32 asm "", "=v,0"(i32 310378496)
  %r = call i32 @llvm.amdgcn.mulhi.i24(i32 %a, i32 %b)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
