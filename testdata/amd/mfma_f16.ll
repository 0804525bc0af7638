; v_mfma_f32_16x16x16_f16 of subnormal numbers: 16 times 2^-24 * 2^-24 is 2^-44.
; The emulator takes them for zero.
; want: 29800000 29800000
; run: 1 64
; only: gfx942
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half>, <4 x half>, <4 x float>, i32, i32, i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %h = call i32 asm "", "=v,0"(i32 65537)
  %a0 = insertelement <2 x i32> poison, i32 %h, i32 0
  %a1 = insertelement <2 x i32> %a0, i32 %h, i32 1
  %b = bitcast <2 x i32> %a1 to <4 x half>
  %d = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> %b, <4 x half> %b, <4 x float> zeroinitializer, i32 0, i32 0, i32 0)
  %e = extractelement <4 x float> %d, i32 0
  %r = bitcast float %e to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
