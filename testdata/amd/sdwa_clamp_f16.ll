; A product of the high halves of two registers, clamped to 0 … 1 (v_mul_f16_sdwa with clamp on gfx942): -2 * 2 is 0.
; The emulator, gfx942: -4 (0xc400).
; want: 0 0
; run: 1 64
; not: gfx1100 gfx1201
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare half @llvm.maxnum.f16(half, half)
declare half @llvm.minnum.f16(half, half)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" "no-nans-fp-math"="true" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %wa = call i32 asm "", "=v,0"(i32 -1073741824)
  %a = bitcast i32 %wa to <2 x half>
  %wb = call i32 asm "", "=v,0"(i32 1073741824)
  %b = bitcast i32 %wb to <2 x half>
  %x = extractelement <2 x half> %a, i32 1
  %y = extractelement <2 x half> %b, i32 1
  %m = fmul nnan half %x, %y
  %l = call nnan half @llvm.maxnum.f16(half %m, half 0.0)
  %c = call nnan half @llvm.minnum.f16(half %l, half 1.0)
  %w = bitcast half %c to i16
  %r = zext i16 %w to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
