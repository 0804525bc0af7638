; v_wmma_f32_16x16x16_fp8_fp8: 16 times 1 * 1 is 16.
; The emulator reads f16.
; want: 41800000 41800000
; only: gfx1201
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8.v8f32.v2i32(<2 x i32>, <2 x i32>, <8 x float>)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %h = call i32 asm "", "=v,0"(i32 943208504)
  %a0 = insertelement <2 x i32> poison, i32 %h, i32 0
  %a1 = insertelement <2 x i32> %a0, i32 %h, i32 1
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.fp8.fp8.v8f32.v2i32(<2 x i32> %a1, <2 x i32> %a1, <8 x float> zeroinitializer)
  %e = extractelement <8 x float> %d, i32 0
  %r = bitcast float %e to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
