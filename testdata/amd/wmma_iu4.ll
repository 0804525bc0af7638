; v_wmma_i32_16x16x32_iu4: 32 times 3 * 3 is 0x120.
; The emulator reads f16. On gfx1100 v_wmma_i32_16x16x16_iu4 likewise.
; want: 120 120
; only: gfx1201
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare <8 x i32> @llvm.amdgcn.wmma.i32.16x16x32.iu4.v8i32.v2i32(i1, <2 x i32>, i1, <2 x i32>, <8 x i32>, i1)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %h = call i32 asm "", "=v,0"(i32 858993459)
  %a0 = insertelement <2 x i32> poison, i32 %h, i32 0
  %a1 = insertelement <2 x i32> %a0, i32 %h, i32 1
  %d = call <8 x i32> @llvm.amdgcn.wmma.i32.16x16x32.iu4.v8i32.v2i32(i1 true, <2 x i32> %a1, i1 true, <2 x i32> %a1, <8 x i32> zeroinitializer, i1 false)
  %r = extractelement <8 x i32> %d, i32 0
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
