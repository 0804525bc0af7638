; cmpxchg of 64 bits with the value that is there (global_atomic_cmpswap_b64). By definition in[i] becomes 7.
; The emulator, gfx1100 and gfx1201: the old value comes back, and memory is unchanged.
; want: 7 0 7 0
; from: in
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %q = getelementptr i64, ptr addrspace(1) %in, i32 %i
  %o = load i64, ptr addrspace(1) %q
  %r = cmpxchg ptr addrspace(1) %q, i64 %o, i64 7 syncscope("agent") monotonic monotonic
  %v = extractvalue { i64, i1 } %r, 0
  %p = getelementptr i64, ptr addrspace(1) %out, i32 %i
  store i64 %v, ptr addrspace(1) %p
  ret void
}
