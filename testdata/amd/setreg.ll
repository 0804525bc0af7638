; s_setreg_imm32_b32 of MODE's rounding, toward zero (in assembly: LLVM itself makes s_round_mode of it): 1 + 1.5 * 2^-24 is 0x3f800000.
; The emulator, gfx1100 and gfx1201: the instruction cannot be executed (unknown variable WAVE_STATUS).
; want: 3f800000
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) strictfp "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  call void asm sideeffect "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15", ""()
  %f = uitofp i32 %i to float
  %o = fadd float %f, 1.0
  %r = call float @llvm.experimental.constrained.fadd.f32(float %o, float 0x3E78000000000000, metadata !"round.dynamic", metadata !"fpexcept.ignore")
  %p = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %r, ptr addrspace(1) %p
  ret void
}

declare float @llvm.experimental.constrained.fadd.f32(float, float, metadata, metadata)
