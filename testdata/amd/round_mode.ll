; llvm.set.rounding (s_round_mode), then a sum that rounds: 1 + 2^-24 up is 0x3f800001.
; The emulator, gfx1100 and gfx1201: 0x3f800000. The mode changes nothing.
; want: 3f800001
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.set.rounding(i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) strictfp "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  call void @llvm.set.rounding(i32 2)
  %f = uitofp i32 %i to float
  %o = fadd float %f, 1.0
  %r = call float @llvm.experimental.constrained.fadd.f32(float %o, float 0x3E70000000000000, metadata !"round.dynamic", metadata !"fpexcept.ignore")
  %p = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %r, ptr addrspace(1) %p
  ret void
}

declare float @llvm.experimental.constrained.fadd.f32(float, float, metadata, metadata)
