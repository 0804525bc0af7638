; A product with the constant 1/(2 pi), which instructions have a number for: 2 times it is 0x3ea2f983.
; The emulator: 0.
; want: 3ea2f983 3ea2f983
; run: 1 64
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %a = call float asm "", "=v,0"(float 2.0)
  %r = fmul float %a, 0x3FC45F3060000000
  %p = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %r, ptr addrspace(1) %p
  ret void
}
