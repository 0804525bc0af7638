; Intrinsics of NVVM IR that LLVM has in other forms. Modes are constants in programs, so inlining leaves one instruction.
target triple = "nvptx64-nvidia-cuda"

declare { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32, i32, i32, i32) convergent
declare { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32, i32, i32, i32) convergent
declare { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32, i32, i32, i32) convergent
declare { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32, i32, i32, i32) convergent
declare i1 @llvm.nvvm.vote.all.sync(i32, i1) convergent
declare i1 @llvm.nvvm.vote.any.sync(i32, i1) convergent
declare i1 @llvm.nvvm.vote.uni.sync(i32, i1) convergent
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1) convergent
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32, i32) convergent
declare { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32, i64) convergent

define { i32, i1 } @__kudzu_shfl_sync_i32(i32 %mask, i32 %mode, i32 %v, i32 %b, i32 %c) alwaysinline convergent {
  switch i32 %mode, label %idx [
    i32 1, label %up
    i32 2, label %down
    i32 3, label %bfly
  ]
idx:
  %r0 = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 %mask, i32 %v, i32 %b, i32 %c)
  ret { i32, i1 } %r0
up:
  %r1 = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 %mask, i32 %v, i32 %b, i32 %c)
  ret { i32, i1 } %r1
down:
  %r2 = call { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32 %mask, i32 %v, i32 %b, i32 %c)
  ret { i32, i1 } %r2
bfly:
  %r3 = call { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32 %mask, i32 %v, i32 %b, i32 %c)
  ret { i32, i1 } %r3
}

define { i32, i1 } @__kudzu_vote_sync(i32 %mask, i32 %mode, i1 %p) alwaysinline convergent {
  switch i32 %mode, label %all [
    i32 1, label %any
    i32 2, label %uni
    i32 3, label %ballot
  ]
all:
  %a = call i1 @llvm.nvvm.vote.all.sync(i32 %mask, i1 %p)
  br label %truth
any:
  %b = call i1 @llvm.nvvm.vote.any.sync(i32 %mask, i1 %p)
  br label %truth
uni:
  %c = call i1 @llvm.nvvm.vote.uni.sync(i32 %mask, i1 %p)
  br label %truth
truth:
  %t = phi i1 [ %a, %all ], [ %b, %any ], [ %c, %uni ]
  %r0 = insertvalue { i32, i1 } { i32 0, i1 false }, i1 %t, 1
  ret { i32, i1 } %r0
ballot:
  %d = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 %p)
  %r1 = insertvalue { i32, i1 } { i32 0, i1 false }, i32 %d, 0
  ret { i32, i1 } %r1
}

define { i32, i1 } @__kudzu_match_all_sync_i32(i32 %mask, i32 %v) alwaysinline convergent {
  %r = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 %mask, i32 %v)
  ret { i32, i1 } %r
}

define { i32, i1 } @__kudzu_match_all_sync_i64(i32 %mask, i64 %v) alwaysinline convergent {
  %r = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 %mask, i64 %v)
  ret { i32, i1 } %r
}
