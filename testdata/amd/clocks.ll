; The constant counter and that of cycles go on: what a wave reads is not zero. 1 says so.
; The emulator: has neither instruction.
; want: 1 1
; run: 1 64
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i64 @llvm.readsteadycounter()
declare i64 @llvm.readcyclecounter()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %a = call i64 @llvm.readsteadycounter()
  %b = call i64 @llvm.readcyclecounter()
  %x = icmp ne i64 %a, 0
  %y = icmp ne i64 %b, 0
  %z = and i1 %x, %y
  %r = zext i1 %z to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
