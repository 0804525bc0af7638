; A wave that waits in a loop for what another wave of its block writes. By definition waves of a block run at the same time, and out[i] is 5.
; The emulator, gfx1100 and gfx1201: it runs a wave to its end or to a barrier, and gives up after a million instructions.
; want: 5 5
; run: 1 64
target triple = "amdgcn-amd-amdhsa"

@flag = internal addrspace(3) global i32 undef, align 4

declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.sleep(i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  store atomic i32 0, ptr addrspace(3) @flag syncscope("workgroup") monotonic, align 4
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  %first = icmp ult i32 %i, 32
  br i1 %first, label %wait, label %give
wait:
  call void @llvm.amdgcn.s.sleep(i32 1)
  %v = load atomic i32, ptr addrspace(3) @flag syncscope("workgroup") monotonic, align 4
  %no = icmp eq i32 %v, 0
  br i1 %no, label %wait, label %end
give:
  store atomic i32 5, ptr addrspace(3) @flag syncscope("workgroup") monotonic, align 4
  br label %end
end:
  %r = phi i32 [ %v, %wait ], [ 5, %give ]
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
