; A value of the lane whose number differs in bit 3, by DPP's row_xmask:8 (RDNA's instructions have it as control 0x168). By definition out[i] is i ^ 8.
; The emulator, gfx1100 and gfx1201: it takes the control for row_share:8, which it does not have, and stops.
; only: gfx1100 gfx1201
; want: 8 9 a b c d e f 0 1 2 3 4 5 6 7 18 19
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %x = call i32 asm "s_nop 4\0Av_mov_b32_dpp $0, $1 row_xmask:8 row_mask:0xf bank_mask:0xf", "=&v,v"(i32 %i)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %x, ptr addrspace(1) %p
  ret void
}
