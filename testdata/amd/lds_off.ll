; A load from LDS that only lanes below 4 do; the register with the address holds anything in the others. By definition out[i] is 7 for those
; four and 0x40000000 x i for the rest.
; The emulator, gfx1100 and gfx1201: the process dies of a segmentation fault. It reads LDS for the lanes that are switched off, too.
; want: 7 7 7 7 0 40000000
target triple = "amdgcn-amd-amdhsa"

@lds = internal addrspace(3) global [64 x i32] undef, align 4

declare i32 @llvm.amdgcn.workitem.id.x()

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %q = getelementptr i32, ptr addrspace(3) @lds, i32 %i
  store i32 7, ptr addrspace(3) %q
  %big = mul i32 %i, 1073741824
  %far = lshr exact i32 %big, 2
  %some = icmp ult i32 %i, 4
  %at = select i1 %some, i32 %i, i32 %far
  %v = call i32 asm "", "=v,0"(i32 %at)
  br i1 %some, label %in.lds, label %out.lds
in.lds:
  %l = getelementptr i32, ptr addrspace(3) @lds, i32 %v
  %x = load i32, ptr addrspace(3) %l
  br label %out.lds
out.lds:
  %r = phi i32 [ %big, %0 ], [ %x, %in.lds ]
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
