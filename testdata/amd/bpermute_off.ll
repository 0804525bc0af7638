; ds_bpermute_b32 that only lanes below 4 do; the register with the address holds anything in the others. By definition out[i] is 3 - i for those
; four and 0x40000000 x i for the rest.
; The emulator, gfx1100, gfx1201 and gfx942: the process dies of a segmentation fault. It takes the address of lanes that are switched off, too.
; want: 3 2 1 0 0 40000000
; run: 1 64
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)

define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) "amdgpu-flat-work-group-size"="1,1024" {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %big = mul i32 %i, 1073741824
  %some = icmp ult i32 %i, 4
  %from = sub i32 3, %i
  %near = shl i32 %from, 2
  %at = select i1 %some, i32 %near, i32 -2147483644
  %v = call i32 asm "", "=v,0"(i32 %at)
  br i1 %some, label %ask, label %end
ask:
  %x = call i32 @llvm.amdgcn.ds.bpermute(i32 %v, i32 %i)
  br label %end
end:
  %r = phi i32 [ %big, %0 ], [ %x, %ask ]
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %p
  ret void
}
