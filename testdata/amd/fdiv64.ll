; fdiv of f64 by a subnormal number (v_div_scale_f64): 1 / 0x000fffffffffffff is 0x7fd0000000000001.
; The emulator, gfx1100 and gfx1201: 0x7ff0000000000000 (infinity).
; want: 1 7fd00000
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %w = zext i32 %i to i64
  %b = sub i64 4503599627370495, %w
  %y = bitcast i64 %b to double
  %q = fdiv double 1.0, %y
  %p = getelementptr double, ptr addrspace(1) %out, i32 %i
  store double %q, ptr addrspace(1) %p
  ret void
}
