; A value of the lane whose number differs in bit 0, by DPP's quad_perm, written over the register that it is read from. By definition all lanes
; read before any writes: out[i] is i ^ 1.
; The emulator, gfx1100, gfx1201 and gfx942: it goes from lane to lane, and later ones read what earlier ones wrote.
; want: 1 0 3 2 5 4 7 6
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %x = call i32 asm "s_nop 4\0Av_mov_b32_dpp $0, $0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", "=v,0"(i32 %i)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %x, ptr addrspace(1) %p
  ret void
}
