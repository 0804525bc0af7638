; A block that waits in a loop for what the next block writes, in a cooperative launch, where all blocks run at the same time. By definition out[0]
; is 6: block 0 sees what block 1 wrote.
; The emulator, gfx1100 and gfx1201: it runs blocks one after another, and gives up after a million instructions.
; want: 6
; run: 2 32
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workgroup.id.x()
declare void @llvm.amdgcn.s.sleep(i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %b = call i32 @llvm.amdgcn.workgroup.id.x()
  %first = icmp eq i32 %b, 0
  br i1 %first, label %wait, label %give
wait:
  call void @llvm.amdgcn.s.sleep(i32 1)
  %v = load atomic i32, ptr addrspace(1) %in syncscope("agent") monotonic, align 4
  %no = icmp ne i32 %v, 6
  br i1 %no, label %wait, label %end
give:
  store atomic i32 6, ptr addrspace(1) %in syncscope("agent") monotonic, align 4
  ret void
end:
  store i32 %v, ptr addrspace(1) %out
  ret void
}
