; The shapes a code object of ours has: a parameter block, variables of the module, constants, a table of addresses, a call,
; static and dynamic shared memory, and a second kernel without parameters.
target triple = "amdgcn-amd-amdhsa"

@counter = external addrspace(1) global i32
@maybe = extern_weak addrspace(1) global i32
@tab = internal unnamed_addr addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 5]
@one = internal addrspace(1) constant i32 11
@other = internal addrspace(1) constant i32 22
@table = internal addrspace(1) constant [2 x ptr addrspace(1)] [ptr addrspace(1) @one, ptr addrspace(1) @other]
@link = internal addrspace(1) constant [2 x ptr addrspace(1)] [ptr addrspace(1) @counter, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @counter, i64 12)]
@shared = internal addrspace(3) global [64 x i32] poison, align 16
@dynamic = external addrspace(3) global [0 x i32], align 16

declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()

define internal i32 @helper(i32 %x) noinline {
  %p = getelementptr [4 x i32], ptr addrspace(4) @tab, i32 0, i32 %x
  %v = load i32, ptr addrspace(4) %p
  %c = load i32, ptr addrspace(1) @counter
  %s = add i32 %v, %c
  ret i32 %s
}

define amdgpu_kernel void @add(ptr addrspace(4) byref([24 x i8]) align 8 %params) #0 {
  %out = load ptr addrspace(1), ptr addrspace(4) %params
  %np = getelementptr i8, ptr addrspace(4) %params, i64 16
  %n = load i32, ptr addrspace(4) %np
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %sp = getelementptr [64 x i32], ptr addrspace(3) @shared, i32 0, i32 %i
  store i32 %n, ptr addrspace(3) %sp
  %dp = getelementptr [0 x i32], ptr addrspace(3) @dynamic, i32 0, i32 %i
  store i32 %i, ptr addrspace(3) %dp
  call void @llvm.amdgcn.s.barrier()
  %h = call i32 @helper(i32 %n)
  %tp = getelementptr [2 x ptr addrspace(1)], ptr addrspace(1) @table, i32 0, i32 %n
  %t = load ptr addrspace(1), ptr addrspace(1) %tp
  %tv = load i32, ptr addrspace(1) %t
  %lp = getelementptr [2 x ptr addrspace(1)], ptr addrspace(1) @link, i32 0, i32 %n
  %l = load ptr addrspace(1), ptr addrspace(1) %lp
  %lv = load i32, ptr addrspace(1) %l
  %a = add i32 %h, %tv
  %w = load i32, ptr addrspace(1) @maybe
  %b = add i32 %a, %lv
  %c = add i32 %b, %w
  %op = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %c, ptr addrspace(1) %op
  ret void
}

define amdgpu_kernel void @nothing() #0 {
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "uniform-work-group-size"="true" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
