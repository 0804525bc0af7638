; fdiv of f32 by a subnormal number (v_div_scale_f32 first makes it a normal one): 1 / -0x7fffff * 2^-149 is 0xfe800001; and a quotient far
; below the subnormal numbers (v_div_fixup_f32): 2^-149 / 2^127 is 0.
; The emulator, gfx1100 and gfx1201: 0xff800000 (minus infinity), 0x00000001.
; want: fe800001 0
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %s = icmp eq i32 %i, 0
  %a = select i1 %s, i32 1065353216, i32 1
  %b = select i1 %s, i32 -2139095041, i32 2130706432
  %x = bitcast i32 %a to float
  %y = bitcast i32 %b to float
  %q = fdiv float %x, %y
  %p = getelementptr float, ptr addrspace(1) %out, i32 %i
  store float %q, ptr addrspace(1) %p
  ret void
}
