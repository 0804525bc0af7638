; CDNA's instructions of memory whose data lie in accumulation registers (the bit acc): ds_xor_b32, ds_write_b64, ds_bpermute_b32, and of
; atomics global_atomic_add and global_atomic_cmpswap_x2. LLVM takes those registers for values that a call must not lose. By definition lane
; i < 4 leaves in out: i + 5; i + 5 and i + 6, written as one; i + 5 of the lane two further, of four; i + 5, added; i + 5 and i + 6 in the place of 0; 0.
; The emulator, gfx942: what vector registers of the same numbers hold. It asks for the bit in plain loads and stores alone.
; want: 5 5 6 7 5 5 6 0 6 6 7 8 6 6 7 0 7 7 8 5 7 7 8 0 8 8 9 6 8 8 9 0
; run: 1 4
; only: gfx942
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

@own = internal addrspace(3) global [12 x i32] undef, align 16

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,64" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %v = add i32 %i, 5
  %w = add i32 %i, 6
  %v0 = insertelement <2 x i32> undef, i32 %v, i32 0
  %v2 = insertelement <2 x i32> %v0, i32 %w, i32 1
  %v4 = shufflevector <2 x i32> %v2, <2 x i32> zeroinitializer, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %at = getelementptr [12 x i32], ptr addrspace(3) @own, i32 0, i32 %i
  %two = getelementptr [12 x i32], ptr addrspace(3) @own, i32 0, i32 4
  %at2 = getelementptr i64, ptr addrspace(3) %two, i32 %i
  store i32 0, ptr addrspace(3) %at
  call void asm sideeffect "ds_xor_b32 $0, $1\0As_waitcnt lgkmcnt(0)", "v,{a40},~{memory}"(ptr addrspace(3) %at, i32 %v)
  call void asm sideeffect "ds_write_b64 $0, $1\0As_waitcnt lgkmcnt(0)", "v,{a[40:41]},~{memory}"(ptr addrspace(3) %at2, <2 x i32> %v2)
  %a = load i32, ptr addrspace(3) %at
  %b = load <2 x i32>, ptr addrspace(3) %at2
  %from = add i32 %i, 2
  %lane = and i32 %from, 3
  %lane4 = shl i32 %lane, 2
  %c = call i32 asm sideeffect "ds_bpermute_b32 $0, $1, $2\0As_waitcnt lgkmcnt(0)", "={a50},v,{a40}"(i32 %lane4, i32 %v)
  %row = mul i32 %i, 8
  %o0 = getelementptr i32, ptr addrspace(1) %out, i32 %row
  %o1 = getelementptr i32, ptr addrspace(1) %o0, i32 1
  %o3 = getelementptr i32, ptr addrspace(1) %o0, i32 3
  %o4 = getelementptr i32, ptr addrspace(1) %o0, i32 4
  %o5 = getelementptr i32, ptr addrspace(1) %o0, i32 5
  store i32 %a, ptr addrspace(1) %o0
  store <2 x i32> %b, ptr addrspace(1) %o1, align 4
  store i32 %c, ptr addrspace(1) %o3
  call void asm sideeffect "global_atomic_add $0, $1, off\0As_waitcnt vmcnt(0)", "v,{a40},~{memory}"(ptr addrspace(1) %o4, i32 %v)
  %pair = getelementptr i64, ptr addrspace(1) %in, i32 %i
  store i64 0, ptr addrspace(1) %pair
  call void asm sideeffect "s_waitcnt vmcnt(0)\0Aglobal_atomic_cmpswap_x2 $0, $1, off\0As_waitcnt vmcnt(0)", "v,{a[40:43]},~{memory}"(ptr addrspace(1) %pair, <4 x i32> %v4)
  %d = load volatile <2 x i32>, ptr addrspace(1) %pair, align 8
  store <2 x i32> %d, ptr addrspace(1) %o5, align 4
  ret void
}
