; v_mfma_i32_16x16x32_i8: 32 times -3 * -3 is 0x120.
; The emulator cannot execute it: what it makes of it does not compile.
; want: 120 120
; run: 1 64
; only: gfx942
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare <4 x i32> @llvm.amdgcn.mfma.i32.16x16x32.i8(i64, i64, <4 x i32>, i32, i32, i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %h = call i64 asm "", "=v,0"(i64 -144680345676153347)
  %d = call <4 x i32> @llvm.amdgcn.mfma.i32.16x16x32.i8(i64 %h, i64 %h, <4 x i32> zeroinitializer, i32 0, i32 0, i32 0)
  %r = extractelement <4 x i32> %d, i32 0
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
