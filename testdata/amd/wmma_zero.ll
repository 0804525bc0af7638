; v_wmma_f32_16x16x16_f16 with the constant 0 as its third operand: 16 times 1 * 1 is 16.
; The emulator adds what is in v128, the register of the constant's number.
; want: 41800000 41800000
; only: gfx1201
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16(<8 x half>, <8 x half>, <8 x float>)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  call void asm sideeffect "v_mov_b32 v128, 1.0", "~{v128}"()
  %h = call i32 asm "", "=v,0"(i32 1006648320)
  %a0 = insertelement <4 x i32> poison, i32 %h, i32 0
  %a1 = insertelement <4 x i32> %a0, i32 %h, i32 1
  %a2 = insertelement <4 x i32> %a1, i32 %h, i32 2
  %a3 = insertelement <4 x i32> %a2, i32 %h, i32 3
  %b = bitcast <4 x i32> %a3 to <8 x half>
  %d = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16(<8 x half> %b, <8 x half> %b, <8 x float> zeroinitializer)
  %e = extractelement <8 x float> %d, i32 0
  %r = bitcast float %e to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
