; As min_zero.ll, of f16, of two f16 in a register, and of f64: the smaller and the larger of -0 and +0, in both orders.
; The emulator: on gfx942 the second operand for the smaller, the first for the larger; of two in a register so on gfx1100 and gfx1201, too.
; want: 8000 0 8000 0 80008000 0 80000000 0 80000000 0
; run: 1 1
target triple = "amdgcn-amd-amdhsa"

declare half @llvm.minnum.f16(half, half)
declare half @llvm.maxnum.f16(half, half)
declare <2 x half> @llvm.minnum.v2f16(<2 x half>, <2 x half>)
declare <2 x half> @llvm.maxnum.v2f16(<2 x half>, <2 x half>)
declare double @llvm.minnum.f64(double, double)
declare double @llvm.maxnum.f64(double, double)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %m = call i32 asm sideeffect "", "=v,0"(i32 32768)
  %z = call i32 asm sideeffect "", "=v,0"(i32 0)
  %upper = call i32 asm sideeffect "", "=v,0"(i32 -2147483648)
  %m16 = trunc i32 %m to i16
  %z16 = trunc i32 %z to i16
  %hm = bitcast i16 %m16 to half
  %hz = bitcast i16 %z16 to half
  %pm = bitcast i32 %m to <2 x half>
  %pu = bitcast i32 %upper to <2 x half>
  %w = zext i32 %upper to i64
  %wm = shl i64 %w, 32
  %wz = zext i32 %z to i64
  %dm = bitcast i64 %wm to double
  %dz = bitcast i64 %wz to double
  %r0 = call half @llvm.minnum.f16(half %hm, half %hz)
  %i0 = bitcast half %r0 to i16
  %e0 = zext i16 %i0 to i32
  %p0 = getelementptr i32, ptr addrspace(1) %out, i32 0
  store i32 %e0, ptr addrspace(1) %p0
  %r1 = call half @llvm.maxnum.f16(half %hm, half %hz)
  %i1 = bitcast half %r1 to i16
  %e1 = zext i16 %i1 to i32
  %p1 = getelementptr i32, ptr addrspace(1) %out, i32 1
  store i32 %e1, ptr addrspace(1) %p1
  %r2 = call half @llvm.minnum.f16(half %hz, half %hm)
  %i2 = bitcast half %r2 to i16
  %e2 = zext i16 %i2 to i32
  %p2 = getelementptr i32, ptr addrspace(1) %out, i32 2
  store i32 %e2, ptr addrspace(1) %p2
  %r3 = call half @llvm.maxnum.f16(half %hz, half %hm)
  %i3 = bitcast half %r3 to i16
  %e3 = zext i16 %i3 to i32
  %p3 = getelementptr i32, ptr addrspace(1) %out, i32 3
  store i32 %e3, ptr addrspace(1) %p3
  %r4 = call <2 x half> @llvm.minnum.v2f16(<2 x half> %pm, <2 x half> %pu)
  %e4 = bitcast <2 x half> %r4 to i32
  %p4 = getelementptr i32, ptr addrspace(1) %out, i32 4
  store i32 %e4, ptr addrspace(1) %p4
  %r5 = call <2 x half> @llvm.maxnum.v2f16(<2 x half> %pm, <2 x half> %pu)
  %e5 = bitcast <2 x half> %r5 to i32
  %p5 = getelementptr i32, ptr addrspace(1) %out, i32 5
  store i32 %e5, ptr addrspace(1) %p5
  %r6 = call double @llvm.minnum.f64(double %dm, double %dz)
  %i6 = bitcast double %r6 to i64
  %s6 = lshr i64 %i6, 32
  %e6 = trunc i64 %s6 to i32
  %p6 = getelementptr i32, ptr addrspace(1) %out, i32 6
  store i32 %e6, ptr addrspace(1) %p6
  %r7 = call double @llvm.maxnum.f64(double %dm, double %dz)
  %i7 = bitcast double %r7 to i64
  %s7 = lshr i64 %i7, 32
  %e7 = trunc i64 %s7 to i32
  %p7 = getelementptr i32, ptr addrspace(1) %out, i32 7
  store i32 %e7, ptr addrspace(1) %p7
  %r8 = call double @llvm.minnum.f64(double %dz, double %dm)
  %i8 = bitcast double %r8 to i64
  %s8 = lshr i64 %i8, 32
  %e8 = trunc i64 %s8 to i32
  %p8 = getelementptr i32, ptr addrspace(1) %out, i32 8
  store i32 %e8, ptr addrspace(1) %p8
  %r9 = call double @llvm.maxnum.f64(double %dz, double %dm)
  %i9 = bitcast double %r9 to i64
  %s9 = lshr i64 %i9, 32
  %e9 = trunc i64 %s9 to i32
  %p9 = getelementptr i32, ptr addrspace(1) %out, i32 9
  store i32 %e9, ptr addrspace(1) %p9
  ret void
}
