; frexp of 0, of the least subnormal number and of 1: the mantissas are 0, 0.5 and 0.5, the exponents 0, -148 and 1.
; The emulator, gfx1100, gfx1201 and gfx942: it puts the exponent of 0.5 over whatever bits there are, so that 0 has the mantissa 0.5 and the exponent -126.
; want: 0 0 3f000000 ffffff6c 3f000000 1
; run: 1 1
target triple = "amdgcn-amd-amdhsa"

declare float @llvm.amdgcn.frexp.mant.f32(float)
declare i32 @llvm.amdgcn.frexp.exp.i32.f32(float)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "denormal-fp-math-f32"="ieee,ieee" {
  br label %step
step:
  %i = phi i32 [ 0, %0 ], [ %next, %step ]
  %one = icmp eq i32 %i, 2
  %b = select i1 %one, i32 1065353216, i32 %i
  %v = call i32 asm sideeffect "", "=v,0"(i32 %b)
  %x = bitcast i32 %v to float
  %m = call float @llvm.amdgcn.frexp.mant.f32(float %x)
  %e = call i32 @llvm.amdgcn.frexp.exp.i32.f32(float %x)
  %j = shl i32 %i, 1
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %j
  store float %m, ptr addrspace(1) %p
  %q = getelementptr i32, ptr addrspace(1) %p, i32 1
  store i32 %e, ptr addrspace(1) %q
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 3
  br i1 %more, label %step, label %end
end:
  ret void
}
