package main

import "testing"

// TestPlainIR: what only new releases of LLVM read and what holds for one target is gone; whether a function is inlined stays.
func TestPlainIR(t *testing.T) {
	const from = `; ModuleID = 'x.c'
source_filename = "x.c"
target datalayout = "e-p6:32:32"
target triple = "nvptx64-nvidia-cuda"

@.str = private unnamed_addr constant [2 x i8] c"a\00", align 1

; Function Attrs: alwaysinline nounwind
define dso_local noundef range(i32 0, 33) i32 @f(ptr noundef writeonly captures(none) initializes((0, 4)) %0) local_unnamed_addr #4 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 4
  store i32 1, ptr %2, align 4, !tbaa !7
  %3 = icmp samesign ult i32 1, 2
  br label %4, !llvm.loop !9

4:                                                ; preds = %1
  %5 = tail call i32 @kudzu_reflect(ptr noundef nonnull @.str) #15
  %6 = tail call float @llvm.nvvm.ex2.approx.ftz.f32(float 1.0)
  ret i32 %5
}

declare dso_local i32 @kudzu_reflect(ptr noundef) local_unnamed_addr #1

attributes #1 = { nounwind }
attributes #4 = { alwaysinline mustprogress "target-cpu"="sm_50" }
attributes #15 = { nounwind }

!llvm.ident = !{!2}
!2 = !{!"clang"}
`
	const want = libraryHead + `@.str = private constant [2 x i8] c"a\00", align 1

define i32 @f(ptr %0) #1 {
  %2 = getelementptr inbounds i8, ptr %0, i64 4
  store i32 1, ptr %2, align 4
  %3 = icmp ult i32 1, 2
  br label %4

4:
  %5 = tail call i32 @__nvvm_reflect(ptr @.str)
  %6 = tail call float @llvm.nvvm.ex2.approx.ftz.f(float 1.0)
  ret i32 %5
}

declare i32 @__nvvm_reflect(ptr) #3

` + libraryTail
	if got := plainIR(from); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
