; A load through a generic pointer (flat_load_b32) of global memory; the empty assembly keeps LLVM from seeing which. By definition out[i] is in[i].
; The emulator, gfx1201: the instruction cannot be executed (unknown variable flat_scratch).
; want: 3e8 3e9 3ea
; not: gfx1100
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %n = ptrtoint ptr addrspace(1) %in to i64
  %h = call i64 asm "", "=v,0"(i64 %n)
  %a = inttoptr i64 %h to ptr
  %q = getelementptr i32, ptr %a, i32 %i
  %v = load i32, ptr %q
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v, ptr addrspace(1) %p
  ret void
}
