; llvm.rint (v_rndne_f32) of -0.0 and of 0.49999997. By definition: 0x80000000, 0x00000000.
; The emulator, gfx1100 and gfx1201: 0x00000000, 0x3f800000. It computes floor(x + 0.5).
; want: 80000000 0
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare float @llvm.rint.f32(float)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %s = icmp eq i32 %i, 0
  %v = select i1 %s, float -0.0, float 0x3FDFFFFFE0000000
  %r = call float @llvm.rint.f32(float %v)
  %p = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %r, ptr addrspace(1) %p
  ret void
}
