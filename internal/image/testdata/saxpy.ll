; saxpy in the calling convention of abi.go, block of 256 threads, as emit/warp would write it: warps of 32 lanes, a
; scalar tail, y[i] = a*x[i] + y[i] for i < n. Parameters: n u32 at 0, a f32 at 4, x u64 at 8, y u64 at 16.
define i32 @saxpy(ptr %l, ptr %w, i64 %first, i64 %count) !dbg !5 {
entry:
  %pp = load ptr, ptr %l, !dbg !8
  %n = load i32, ptr %pp, !dbg !8
  %ap = getelementptr i8, ptr %pp, i64 4, !dbg !8
  %a = load float, ptr %ap, !dbg !8
  %xp = getelementptr i8, ptr %pp, i64 8, !dbg !8
  %x = load ptr, ptr %xp, !dbg !9
  %yp = getelementptr i8, ptr %pp, i64 16, !dbg !8
  %y = load ptr, ptr %yp, !dbg !9
  %a0 = insertelement <32 x float> poison, float %a, i64 0, !dbg !8
  %av = shufflevector <32 x float> %a0, <32 x float> poison, <32 x i32> zeroinitializer, !dbg !8
  %n0 = insertelement <32 x i32> poison, i32 %n, i64 0, !dbg !8
  %nv = shufflevector <32 x i32> %n0, <32 x i32> poison, <32 x i32> zeroinitializer, !dbg !8
  %none = icmp eq i64 %count, 0, !dbg !8
  br i1 %none, label %done, label %block, !dbg !8
block:
  %k = phi i64 [ 0, %entry ], [ %k1, %blockend ], !dbg !10
  %b = add i64 %first, %k, !dbg !10
  %bw = getelementptr i8, ptr %w, i64 24, !dbg !10
  store i64 %b, ptr %bw, !dbg !10
  %b32 = trunc i64 %b to i32, !dbg !10
  %start = mul i32 %b32, 256, !dbg !10
  br label %warp, !dbg !10
warp:
  %g = phi i32 [ 0, %block ], [ %g1, %warp ], !dbg !12
  %t0 = mul i32 %g, 32, !dbg !12
  %i0 = add i32 %start, %t0, !dbg !11
  %i00 = insertelement <32 x i32> poison, i32 %i0, i64 0, !dbg !12
  %iu = shufflevector <32 x i32> %i00, <32 x i32> poison, <32 x i32> zeroinitializer, !dbg !12
  %i = add <32 x i32> %iu, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, !dbg !11
  %m = icmp slt <32 x i32> %i, %nv, !dbg !12
  %i64 = sext i32 %i0 to i64, !dbg !12
  %xa = getelementptr float, ptr %x, i64 %i64, !dbg !12
  %ya = getelementptr float, ptr %y, i64 %i64, !dbg !12
  %xv = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %xa, i32 4, <32 x i1> %m, <32 x float> poison), !dbg !13
  %yv = call <32 x float> @llvm.masked.load.v32f32.p0(ptr %ya, i32 4, <32 x i1> %m, <32 x float> poison), !dbg !13
  %p = call <32 x float> @llvm.fma.v32f32(<32 x float> %av, <32 x float> %xv, <32 x float> %yv), !dbg !14
  call void @llvm.masked.store.v32f32.p0(<32 x float> %p, ptr %ya, i32 4, <32 x i1> %m), !dbg !15
  %g1 = add i32 %g, 1, !dbg !12
  %more = icmp ult i32 %g1, 8, !dbg !12
  br i1 %more, label %warp, label %blockend, !dbg !12
blockend:
  %k1 = add i64 %k, 1, !dbg !16
  %again = icmp ult i64 %k1, %count, !dbg !16
  br i1 %again, label %block, label %done, !dbg !16
done:
  ret i32 0, !dbg !16
}

declare <32 x float> @llvm.masked.load.v32f32.p0(ptr, i32, <32 x i1>, <32 x float>)
declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32, <32 x i1>)
declare <32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)

!llvm.module.flags = !{!0, !1}
!llvm.dbg.cu = !{!2}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 7, !"Dwarf Version", i32 4}
!2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3, producer: "kudzu", isOptimized: true, emissionKind: LineTablesOnly)
!3 = !DIFile(filename: "saxpy.ptx", directory: "")
!4 = !DISubroutineType(types: !6)
!5 = distinct !DISubprogram(name: "saxpy", scope: !3, file: !3, line: 10, scopeLine: 10, type: !4, unit: !2, spFlags: DISPFlagDefinition)
!6 = !{null}
!8 = !DILocation(line: 11, scope: !5)
!9 = !DILocation(line: 12, scope: !5)
!10 = !DILocation(line: 13, scope: !5)
!11 = !DILocation(line: 14, scope: !5)
!12 = !DILocation(line: 15, scope: !5)
!13 = !DILocation(line: 16, scope: !5)
!14 = !DILocation(line: 17, scope: !5)
!15 = !DILocation(line: 18, scope: !5)
!16 = !DILocation(line: 19, scope: !5)
