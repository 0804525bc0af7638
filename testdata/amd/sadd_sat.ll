; llvm.sadd.sat of i32 (v_add_i32 with clamp on gfx942): 0x7fffffff + 1 is 0x7fffffff.
; The emulator, gfx942: 0x80000000.
; want: 7fffffff 7fffffff
; run: 1 64
; not: gfx1100 gfx1201
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.sadd.sat.i32(i32, i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %a = call i32 asm "", "=v,0"(i32 2147483647)
  %b = add i32 %i, 1
  %r = call i32 @llvm.sadd.sat.i32(i32 %a, i32 %b)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
