; A load from the stack whose address is a register of the lane plus one of the wave that is negative (scratch_load_b32 v, v, s), as RDNA 4 may
; have it. By definition out[i] is 11.
; The emulator, gfx1201: the process dies of a segmentation fault, 4 GiB further on.
; want: b b b
; not: gfx1100
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %a = alloca [64 x i32], align 4, addrspace(5)
  store volatile i32 11, ptr addrspace(5) %a
  %up = call i32 asm "", "=v,0"(i32 4)
  %down = call i32 asm "s_mov_b32 $0, -4", "=s"()
  %q = getelementptr i8, ptr addrspace(5) %a, i32 %down
  %l = getelementptr i8, ptr addrspace(5) %q, i32 %up
  %x = load volatile i32, ptr addrspace(5) %l
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %x, ptr addrspace(1) %p
  ret void
}
