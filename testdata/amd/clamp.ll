; A number cut to 0...1 as the IR says it, which LLVM makes the modifier clamp of v_add_f32: -0 is not greater than 0, so -0 + -0 gives 0x00000000.
; The emulator, gfx1100 and gfx1201: 0x80000000.
; want: 0 0
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %f = call float asm "", "=v,0"(float -0.0)
  %m = fadd float %f, %f
  %c = fcmp ogt float %m, 0.0
  %a = select i1 %c, float %m, float 0.0
  %d = fcmp olt float %a, 1.0
  %b = select i1 %d, float %a, float 1.0
  %p = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %b, ptr addrspace(1) %p
  ret void
}
