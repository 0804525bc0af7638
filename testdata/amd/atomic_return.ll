; atomicrmw whose result is used (global_atomic_add_u32 with th:TH_ATOMIC_RETURN). By definition out[i] is what in[i] was.
; The emulator, gfx1201: 0. It looks for RDNA 3's bit glc, which RDNA 4 calls th. The runner of docs/amd.md mends that from outside.
; want: 3e8 3e9 3ea 3eb
; always
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %q = getelementptr i32, ptr addrspace(1) %in, i32 %i
  %v = atomicrmw add ptr addrspace(1) %q, i32 1 syncscope("agent") monotonic
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v, ptr addrspace(1) %p
  ret void
}
