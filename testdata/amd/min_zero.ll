; The smaller and the larger of -0 and +0, in both orders: v_min_f32 and v_max_f32 take -0 for the smaller.
; The emulator, gfx942: it compares with +0 and -0 as numbers, which are equal, and gives the second or the first operand.
; not: gfx1100 gfx1201
; want: 80000000 0 80000000 0
; run: 1 1
target triple = "amdgcn-amd-amdhsa"

declare float @llvm.minnum.f32(float, float)
declare float @llvm.maxnum.f32(float, float)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %m = call i32 asm sideeffect "", "=v,0"(i32 -2147483648)
  %z = call i32 asm sideeffect "", "=v,0"(i32 0)
  %minus = bitcast i32 %m to float
  %zero = bitcast i32 %z to float
  %a = call float @llvm.minnum.f32(float %minus, float %zero)
  %b = call float @llvm.maxnum.f32(float %minus, float %zero)
  %c = call float @llvm.minnum.f32(float %zero, float %minus)
  %d = call float @llvm.maxnum.f32(float %zero, float %minus)
  store float %a, ptr addrspace(1) %out
  %p1 = getelementptr i32, ptr addrspace(1) %out, i32 1
  store float %b, ptr addrspace(1) %p1
  %p2 = getelementptr i32, ptr addrspace(1) %out, i32 2
  store float %c, ptr addrspace(1) %p2
  %p3 = getelementptr i32, ptr addrspace(1) %out, i32 3
  store float %d, ptr addrspace(1) %p3
  ret void
}
