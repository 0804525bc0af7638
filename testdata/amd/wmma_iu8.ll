; v_wmma_i32_16x16x16_iu8 of unsigned bytes: 16 times 200 * 200 is 0x9c400.
; The emulator takes them for signed: 16 times -56 * -56 is 0xc400. Also on gfx1201.
; want: 9c400 9c400
; only: gfx1100
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare <8 x i32> @llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32(i1, <4 x i32>, i1, <4 x i32>, <8 x i32>, i1)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %h = call i32 asm "", "=v,0"(i32 3368601800)
  %a0 = insertelement <4 x i32> poison, i32 %h, i32 0
  %a1 = insertelement <4 x i32> %a0, i32 %h, i32 1
  %a2 = insertelement <4 x i32> %a1, i32 %h, i32 2
  %a3 = insertelement <4 x i32> %a2, i32 %h, i32 3
  %d = call <8 x i32> @llvm.amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32(i1 false, <4 x i32> %a3, i1 false, <4 x i32> %a3, <8 x i32> zeroinitializer, i1 false)
  %r = extractelement <8 x i32> %d, i32 0
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
