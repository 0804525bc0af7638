; Functions that LLVM's code generator calls when the target has no instruction for something. An image calls nothing
; outside, so they are linked into it when used. Each is written with integer operations and with what every target
; has, and is "no-builtins" so that no pass turns its loop into a call of itself. Helpers of helpers begin with kz_.

define ptr @memset(ptr %d, i32 %c, i64 %n) nounwind "no-builtins" {
entry:
  %b = trunc i32 %c to i8
  %v0 = insertelement <16 x i8> poison, i8 %b, i64 0
  %v = shufflevector <16 x i8> %v0, <16 x i8> poison, <16 x i32> zeroinitializer
  %wide = and i64 %n, -16
  %any = icmp ne i64 %wide, 0
  br i1 %any, label %by16, label %tail
by16:
  %i = phi i64 [ 0, %entry ], [ %i1, %by16 ]
  %p = getelementptr i8, ptr %d, i64 %i
  store <16 x i8> %v, ptr %p, align 1
  %i1 = add i64 %i, 16
  %more = icmp ult i64 %i1, %wide
  br i1 %more, label %by16, label %tail
tail:
  %j = phi i64 [ 0, %entry ], [ %wide, %by16 ], [ %j1, %by1 ]
  %left = icmp ult i64 %j, %n
  br i1 %left, label %by1, label %end
by1:
  %q = getelementptr i8, ptr %d, i64 %j
  store i8 %b, ptr %q
  %j1 = add i64 %j, 1
  br label %tail
end:
  ret ptr %d
}

define ptr @memcpy(ptr %d, ptr %s, i64 %n) nounwind "no-builtins" {
entry:
  %wide = and i64 %n, -16
  %any = icmp ne i64 %wide, 0
  br i1 %any, label %by16, label %tail
by16:
  %i = phi i64 [ 0, %entry ], [ %i1, %by16 ]
  %sp = getelementptr i8, ptr %s, i64 %i
  %x = load <16 x i8>, ptr %sp, align 1
  %dp = getelementptr i8, ptr %d, i64 %i
  store <16 x i8> %x, ptr %dp, align 1
  %i1 = add i64 %i, 16
  %more = icmp ult i64 %i1, %wide
  br i1 %more, label %by16, label %tail
tail:
  %j = phi i64 [ 0, %entry ], [ %wide, %by16 ], [ %j1, %by1 ]
  %left = icmp ult i64 %j, %n
  br i1 %left, label %by1, label %end
by1:
  %sq = getelementptr i8, ptr %s, i64 %j
  %y = load i8, ptr %sq
  %dq = getelementptr i8, ptr %d, i64 %j
  store i8 %y, ptr %dq
  %j1 = add i64 %j, 1
  br label %tail
end:
  ret ptr %d
}

; Forwards is right whenever the destination does not begin inside the source: each piece is read before the
; piece that could overwrite it is written.
define ptr @memmove(ptr %d, ptr %s, i64 %n) nounwind "no-builtins" {
entry:
  %di = ptrtoint ptr %d to i64
  %si = ptrtoint ptr %s to i64
  %apart = sub i64 %di, %si
  %forward = icmp uge i64 %apart, %n
  br i1 %forward, label %fwd, label %back
fwd:
  %r = call ptr @memcpy(ptr %d, ptr %s, i64 %n)
  ret ptr %d
back:
  %i = phi i64 [ %n, %entry ], [ %i1, %by16 ]
  %enough = icmp uge i64 %i, 16
  br i1 %enough, label %by16, label %tail
by16:
  %i1 = sub i64 %i, 16
  %sp = getelementptr i8, ptr %s, i64 %i1
  %x = load <16 x i8>, ptr %sp, align 1
  %dp = getelementptr i8, ptr %d, i64 %i1
  store <16 x i8> %x, ptr %dp, align 1
  br label %back
tail:
  %j = phi i64 [ %i, %back ], [ %j1, %by1 ]
  %left = icmp ne i64 %j, 0
  br i1 %left, label %by1, label %end
by1:
  %j1 = sub i64 %j, 1
  %sq = getelementptr i8, ptr %s, i64 %j1
  %y = load i8, ptr %sq
  %dq = getelementptr i8, ptr %d, i64 %j1
  store i8 %y, ptr %dq
  br label %tail
end:
  ret ptr %d
}

; Quotient, and the remainder through %rem. A divisor of zero gives all ones and the dividend, as PTX does.
define i128 @kz_udivrem128(i128 %n, i128 %d, ptr %rem) nounwind "no-builtins" {
entry:
  %zero = icmp eq i128 %d, 0
  br i1 %zero, label %byzero, label %size
byzero:
  store i128 %n, ptr %rem
  ret i128 -1
size:
  %or = or i128 %n, %d
  %big = icmp ugt i128 %or, 18446744073709551615
  br i1 %big, label %order, label %small
small:
  %n64 = trunc i128 %n to i64
  %d64 = trunc i128 %d to i64
  %q64 = udiv i64 %n64, %d64
  %r64 = urem i64 %n64, %d64
  %q128 = zext i64 %q64 to i128
  %r128 = zext i64 %r64 to i128
  store i128 %r128, ptr %rem
  ret i128 %q128
order:
  %less = icmp ult i128 %n, %d
  br i1 %less, label %none, label %long
none:
  store i128 %n, ptr %rem
  ret i128 0
long:
  %nz = call i128 @llvm.ctlz.i128(i128 %n, i1 false)
  %dz = call i128 @llvm.ctlz.i128(i128 %d, i1 false)
  %shift = sub i128 %dz, %nz
  %top = shl i128 %d, %shift
  br label %bit
bit:
  %k = phi i128 [ %shift, %long ], [ %k1, %bit ]
  %a = phi i128 [ %n, %long ], [ %a1, %bit ]
  %b = phi i128 [ %top, %long ], [ %b1, %bit ]
  %q = phi i128 [ 0, %long ], [ %q1, %bit ]
  %fits = icmp uge i128 %a, %b
  %diff = sub i128 %a, %b
  %a1 = select i1 %fits, i128 %diff, i128 %a
  %b1 = lshr i128 %b, 1
  %twice = shl i128 %q, 1
  %one = zext i1 %fits to i128
  %q1 = or i128 %twice, %one
  %k1 = sub i128 %k, 1
  %last = icmp eq i128 %k, 0
  br i1 %last, label %end, label %bit
end:
  store i128 %a1, ptr %rem
  ret i128 %q1
}

define i128 @__udivti3(i128 %n, i128 %d) nounwind "no-builtins" {
  %rem = alloca i128
  %q = call i128 @kz_udivrem128(i128 %n, i128 %d, ptr %rem)
  ret i128 %q
}

define i128 @__umodti3(i128 %n, i128 %d) nounwind "no-builtins" {
  %rem = alloca i128
  %q = call i128 @kz_udivrem128(i128 %n, i128 %d, ptr %rem)
  %r = load i128, ptr %rem
  ret i128 %r
}

define i128 @__divti3(i128 %n, i128 %d) nounwind "no-builtins" {
  %rem = alloca i128
  %ns = ashr i128 %n, 127
  %ds = ashr i128 %d, 127
  %nx = xor i128 %n, %ns
  %na = sub i128 %nx, %ns
  %dx = xor i128 %d, %ds
  %da = sub i128 %dx, %ds
  %q = call i128 @kz_udivrem128(i128 %na, i128 %da, ptr %rem)
  %s = xor i128 %ns, %ds
  %qx = xor i128 %q, %s
  %qs = sub i128 %qx, %s
  ret i128 %qs
}

define i128 @__modti3(i128 %n, i128 %d) nounwind "no-builtins" {
  %rem = alloca i128
  %ns = ashr i128 %n, 127
  %ds = ashr i128 %d, 127
  %nx = xor i128 %n, %ns
  %na = sub i128 %nx, %ns
  %dx = xor i128 %d, %ds
  %da = sub i128 %dx, %ds
  %q = call i128 @kz_udivrem128(i128 %na, i128 %da, ptr %rem)
  %r = load i128, ptr %rem
  %rx = xor i128 %r, %ns
  %rs = sub i128 %rx, %ns
  ret i128 %rs
}

; The remainder of two floats is a float, so the computation in double, which is exact, rounds nothing here.
define float @fmodf(float %x, float %y) nounwind "no-builtins" {
  %xd = fpext float %x to double
  %yd = fpext float %y to double
  %r = call double @fmod(double %xd, double %yd)
  %f = fptrunc double %r to float
  ret float %f
}

; Long division of the significands, one bit a step.
define double @fmod(double %x, double %y) nounwind "no-builtins" {
entry:
  %xb = bitcast double %x to i64
  %yb = bitcast double %y to i64
  %sign = and i64 %xb, -9223372036854775808
  %ax = and i64 %xb, 9223372036854775807
  %ay = and i64 %yb, 9223372036854775807
  %y0 = icmp eq i64 %ay, 0
  %ynan = icmp ugt i64 %ay, 9218868437227405312
  %xinf = icmp uge i64 %ax, 9218868437227405312
  %bad1 = or i1 %y0, %ynan
  %bad = or i1 %bad1, %xinf
  br i1 %bad, label %invalid, label %order
invalid:
  %m = fmul double %x, %y
  %nan = fdiv double %m, %m
  ret double %nan
order:
  %less = icmp ult i64 %ax, %ay
  br i1 %less, label %same, label %norm
same:
  ret double %x
norm:
  %xe0 = lshr i64 %ax, 52
  %xsub = icmp eq i64 %xe0, 0
  %xz = call i64 @llvm.ctlz.i64(i64 %ax, i1 false)
  %xsh = sub i64 %xz, 11
  %xsm = shl i64 %ax, %xsh
  %xse = sub i64 1, %xsh
  %xf = and i64 %ax, 4503599627370495
  %xnm = or i64 %xf, 4503599627370496
  %mx = select i1 %xsub, i64 %xsm, i64 %xnm
  %ex = select i1 %xsub, i64 %xse, i64 %xe0
  %ye0 = lshr i64 %ay, 52
  %ysub = icmp eq i64 %ye0, 0
  %yz = call i64 @llvm.ctlz.i64(i64 %ay, i1 false)
  %ysh = sub i64 %yz, 11
  %ysm = shl i64 %ay, %ysh
  %yse = sub i64 1, %ysh
  %yf = and i64 %ay, 4503599627370495
  %ynm = or i64 %yf, 4503599627370496
  %my = select i1 %ysub, i64 %ysm, i64 %ynm
  %ey = select i1 %ysub, i64 %yse, i64 %ye0
  br label %step
step:
  %a = phi i64 [ %mx, %norm ], [ %a2, %next ]
  %e = phi i64 [ %ex, %norm ], [ %e1, %next ]
  %fits = icmp uge i64 %a, %my
  %diff = sub i64 %a, %my
  %a1 = select i1 %fits, i64 %diff, i64 %a
  %done = icmp sle i64 %e, %ey
  br i1 %done, label %pack, label %next
next:
  %a2 = shl i64 %a1, 1
  %e1 = sub i64 %e, 1
  br label %step
pack:
  %nothing = icmp eq i64 %a1, 0
  br i1 %nothing, label %signed0, label %value
signed0:
  %z = bitcast i64 %sign to double
  ret double %z
value:
  %lz = call i64 @llvm.ctlz.i64(i64 %a1, i1 false)
  %sh = sub i64 %lz, 11
  %mr = shl i64 %a1, %sh
  %er = sub i64 %e, %sh
  %normal = icmp sgt i64 %er, 0
  br i1 %normal, label %packn, label %packs
packn:
  %frac = and i64 %mr, 4503599627370495
  %eb = shl i64 %er, 52
  %nb = or i64 %frac, %eb
  br label %out
packs:
  %down = sub i64 1, %er
  %sb = lshr i64 %mr, %down
  br label %out
out:
  %mag = phi i64 [ %nb, %packn ], [ %sb, %packs ]
  %rb = or i64 %mag, %sign
  %r = bitcast i64 %rb to double
  ret double %r
}

define half @__truncsfhf2(float %x) nounwind "no-builtins" {
  %d = fpext float %x to double
  %h = call half @__truncdfhf2(double %d)
  ret half %h
}

; Round to nearest even at bit 42 for normal results, at a shift that depends on the exponent for subnormal ones.
define half @__truncdfhf2(double %x) nounwind "no-builtins" {
entry:
  %b = bitcast double %x to i64
  %a = and i64 %b, 9223372036854775807
  %s64 = lshr i64 %b, 48
  %s = and i64 %s64, 32768
  %nan = icmp ugt i64 %a, 9218868437227405312
  br i1 %nan, label %isnan, label %high
isnan:
  %pay0 = lshr i64 %a, 42
  %pay = and i64 %pay0, 1023
  %q = or i64 %pay, 32256
  br label %out
high:
  %inf = icmp uge i64 %a, 4679240012837945344
  br i1 %inf, label %isinf, label %mid
isinf:
  br label %out
mid:
  %normal = icmp uge i64 %a, 4544132024016830464
  br i1 %normal, label %isnormal, label %low
isnormal:
  %r = sub i64 %a, 4539628424389459968
  %odd0 = lshr i64 %r, 42
  %odd = and i64 %odd0, 1
  %r1 = add i64 %r, 2199023255551
  %r2 = add i64 %r1, %odd
  %n = lshr i64 %r2, 42
  br label %out
low:
  %e = lshr i64 %a, 52
  %tiny = icmp ult i64 %e, 998
  br i1 %tiny, label %iszero, label %issub
iszero:
  br label %out
issub:
  %f = and i64 %a, 4503599627370495
  %m = or i64 %f, 4503599627370496
  %sh = sub i64 1051, %e
  %q0 = lshr i64 %m, %sh
  %back = shl i64 %q0, %sh
  %rest = sub i64 %m, %back
  %sh1 = sub i64 %sh, 1
  %half = shl i64 1, %sh1
  %more = icmp ugt i64 %rest, %half
  %tie = icmp eq i64 %rest, %half
  %q0odd = trunc i64 %q0 to i1
  %tieup = and i1 %tie, %q0odd
  %up = or i1 %more, %tieup
  %up64 = zext i1 %up to i64
  %q1 = add i64 %q0, %up64
  br label %out
out:
  %mag = phi i64 [ %q, %isnan ], [ 31744, %isinf ], [ %n, %isnormal ], [ 0, %iszero ], [ %q1, %issub ]
  %all = or i64 %mag, %s
  %i = trunc i64 %all to i16
  %h = bitcast i16 %i to half
  ret half %h
}

define float @__extendhfsf2(half %x) nounwind "no-builtins" {
entry:
  %h = bitcast half %x to i16
  %b = zext i16 %h to i32
  %s0 = and i32 %b, 32768
  %s = shl i32 %s0, 16
  %e0 = lshr i32 %b, 10
  %e = and i32 %e0, 31
  %m = and i32 %b, 1023
  %m13 = shl i32 %m, 13
  switch i32 %e, label %normal [
    i32 0, label %small
    i32 31, label %special
  ]
normal:
  %e127 = add i32 %e, 112
  %eb = shl i32 %e127, 23
  %n = or i32 %eb, %m13
  br label %out
small:
  %mf = uitofp i32 %m to float
  %v = fmul float %mf, 0x3E70000000000000
  %vb = bitcast float %v to i32
  br label %out
special:
  %isnan = icmp ne i32 %m, 0
  %quiet = select i1 %isnan, i32 2143289344, i32 2139095040
  %sp = or i32 %quiet, %m13
  br label %out
out:
  %mag = phi i32 [ %n, %normal ], [ %vb, %small ], [ %sp, %special ]
  %all = or i32 %mag, %s
  %f = bitcast i32 %all to float
  ret float %f
}

define bfloat @__truncsfbf2(float %x) nounwind "no-builtins" {
  %b = bitcast float %x to i32
  %a = and i32 %b, 2147483647
  %nan = icmp ugt i32 %a, 2139095040
  %quiet = or i32 %b, 4194304
  %odd0 = lshr i32 %b, 16
  %odd = and i32 %odd0, 1
  %r = add i32 %b, 32767
  %r1 = add i32 %r, %odd
  %v = select i1 %nan, i32 %quiet, i32 %r1
  %t = lshr i32 %v, 16
  %i = trunc i32 %t to i16
  %y = bitcast i16 %i to bfloat
  ret bfloat %y
}

; Rounds to odd on the way through float: rounding twice to nearest would be wrong near a tie.
define bfloat @__truncdfbf2(double %x) nounwind "no-builtins" {
  %f = fptrunc double %x to float
  %w = fpext float %f to double
  %wb0 = bitcast double %w to i64
  %xb0 = bitcast double %x to i64
  %wb = and i64 %wb0, 9223372036854775807
  %xb = and i64 %xb0, 9223372036854775807
  %above = icmp ugt i64 %wb, %xb
  %differs = fcmp one double %w, %x
  %fb = bitcast float %f to i32
  %less = sub i32 %fb, 1
  %toward = select i1 %above, i32 %less, i32 %fb
  %odd = or i32 %toward, 1
  %pick = select i1 %differs, i32 %odd, i32 %fb
  %fo = bitcast i32 %pick to float
  %y = call bfloat @__truncsfbf2(float %fo)
  ret bfloat %y
}

; Adding and taking away 2^23 rounds at the units; the engine runs images in round to nearest even.
define float @roundevenf(float %x) nounwind "no-builtins" {
  %b = bitcast float %x to i32
  %ab = and i32 %b, 2147483647
  %s = and i32 %b, -2147483648
  %a = bitcast i32 %ab to float
  %small = fcmp olt float %a, 8388608.0
  %up = fadd float %a, 8388608.0
  %r = fsub float %up, 8388608.0
  %rb = bitcast float %r to i32
  %rs = or i32 %rb, %s
  %v = bitcast i32 %rs to float
  %y = select i1 %small, float %v, float %x
  ret float %y
}

define double @roundeven(double %x) nounwind "no-builtins" {
  %b = bitcast double %x to i64
  %ab = and i64 %b, 9223372036854775807
  %s = and i64 %b, -9223372036854775808
  %a = bitcast i64 %ab to double
  %small = fcmp olt double %a, 4503599627370496.0
  %up = fadd double %a, 4503599627370496.0
  %r = fsub double %up, 4503599627370496.0
  %rb = bitcast double %r to i64
  %rs = or i64 %rb, %s
  %v = bitcast i64 %rs to double
  %y = select i1 %small, double %v, double %x
  ret double %y
}

define float @rintf(float %x) nounwind "no-builtins" {
  %y = call float @roundevenf(float %x)
  ret float %y
}

define double @rint(double %x) nounwind "no-builtins" {
  %y = call double @roundeven(double %x)
  ret double %y
}

define float @nearbyintf(float %x) nounwind "no-builtins" {
  %y = call float @roundevenf(float %x)
  ret float %y
}

define double @nearbyint(double %x) nounwind "no-builtins" {
  %y = call double @roundeven(double %x)
  ret double %y
}

; Clears the bits of the fraction that lie below the units.
define double @trunc(double %x) nounwind "no-builtins" {
  %b = bitcast double %x to i64
  %e0 = lshr i64 %b, 52
  %e = and i64 %e0, 2047
  %whole = icmp uge i64 %e, 1075
  %below1 = icmp ult i64 %e, 1023
  %k0 = sub i64 %e, 1023
  %k = and i64 %k0, 63
  %mask = lshr i64 4503599627370495, %k
  %keep = xor i64 %mask, -1
  %cut = and i64 %b, %keep
  %s = and i64 %b, -9223372036854775808
  %v = select i1 %below1, i64 %s, i64 %cut
  %w = select i1 %whole, i64 %b, i64 %v
  %y = bitcast i64 %w to double
  ret double %y
}

define float @truncf(float %x) nounwind "no-builtins" {
  %d = fpext float %x to double
  %t = call double @trunc(double %d)
  %y = fptrunc double %t to float
  ret float %y
}

; A copy of the sign bit keeps floor(-0) and ceil(-0.5) negative zeros.
define double @floor(double %x) nounwind "no-builtins" {
  %t = call double @trunc(double %x)
  %above = fcmp ogt double %t, %x
  %less = fsub double %t, 1.0
  %y = select i1 %above, double %less, double %t
  ret double %y
}

define float @floorf(float %x) nounwind "no-builtins" {
  %d = fpext float %x to double
  %t = call double @floor(double %d)
  %y = fptrunc double %t to float
  ret float %y
}

define double @ceil(double %x) nounwind "no-builtins" {
  %n = fneg double %x
  %f = call double @floor(double %n)
  %y = fneg double %f
  ret double %y
}

define float @ceilf(float %x) nounwind "no-builtins" {
  %d = fpext float %x to double
  %t = call double @ceil(double %d)
  %y = fptrunc double %t to float
  ret float %y
}

; Halves go away from zero.
define double @round(double %x) nounwind "no-builtins" {
  %t = call double @trunc(double %x)
  %f = fsub double %x, %t
  %fb = bitcast double %f to i64
  %fa = and i64 %fb, 9223372036854775807
  %half = icmp uge i64 %fa, 4602678819172646912
  %finite = icmp ult i64 %fa, 9218868437227405312
  %up = and i1 %half, %finite
  %b = bitcast double %x to i64
  %s = and i64 %b, -9223372036854775808
  %ob = or i64 %s, 4607182418800017408
  %one = bitcast i64 %ob to double
  %more = fadd double %t, %one
  %y = select i1 %up, double %more, double %t
  ret double %y
}

define float @roundf(float %x) nounwind "no-builtins" {
  %d = fpext float %x to double
  %t = call double @round(double %d)
  %y = fptrunc double %t to float
  ret float %y
}

; The product of two floats is exact in double. The sum is rounded to odd there, so that rounding to float afterwards
; is as if it were done once.
define float @fmaf(float %a, float %b, float %c) nounwind "no-builtins" {
  %ad = fpext float %a to double
  %bd = fpext float %b to double
  %cd = fpext float %c to double
  %p = fmul double %ad, %bd
  %s = fadd double %p, %cd
  %pv = fsub double %s, %cd
  %cv = fsub double %s, %pv
  %pe = fsub double %p, %pv
  %ce = fsub double %cd, %cv
  %err = fadd double %pe, %ce
  %inexact = fcmp one double %err, 0.0
  %sb = bitcast double %s to i64
  %even = xor i64 %sb, -1
  %isEven = trunc i64 %even to i1
  %fix = and i1 %inexact, %isEven
  %eb = bitcast double %err to i64
  %signs = xor i64 %eb, %sb
  %toward0 = icmp slt i64 %signs, 0
  %delta = select i1 %toward0, i64 -1, i64 1
  %moved = add i64 %sb, %delta
  %rb = select i1 %fix, i64 %moved, i64 %sb
  %r = bitcast i64 %rb to double
  %y = fptrunc double %r to float
  ret float %y
}

; Exact in 256-bit integers: the product has 106 bits, the addend is put beside it; what falls off the low end while
; aligning is kept as one sticky bit. Exponents are of the lowest bit.
define double @fma(double %a, double %b, double %c) nounwind "no-builtins" {
entry:
  %ab = bitcast double %a to i64
  %bb = bitcast double %b to i64
  %cb = bitcast double %c to i64
  %aa = and i64 %ab, 9223372036854775807
  %ba = and i64 %bb, 9223372036854775807
  %ca = and i64 %cb, 9223372036854775807
  %as = icmp uge i64 %aa, 9218868437227405312
  %bs = icmp uge i64 %ba, 9218868437227405312
  %cs = icmp uge i64 %ca, 9218868437227405312
  %a0 = icmp eq i64 %aa, 0
  %b0 = icmp eq i64 %ba, 0
  %c0 = icmp eq i64 %ca, 0
  %p0 = or i1 %a0, %b0
  %sp0 = or i1 %as, %bs
  %sp1 = or i1 %sp0, %p0
  br i1 %sp1, label %plain, label %checkc
plain:
  %pp = fmul double %a, %b
  %ps = fadd double %pp, %c
  ret double %ps
checkc:
  br i1 %cs, label %givec, label %unpack
givec:
  %c2 = fadd double %c, %c
  ret double %c2
unpack:
  %ae = lshr i64 %aa, 52
  %be = lshr i64 %ba, 52
  %ce = lshr i64 %ca, 52
  %af = and i64 %aa, 4503599627370495
  %bf = and i64 %ba, 4503599627370495
  %cf = and i64 %ca, 4503599627370495
  %an = icmp ne i64 %ae, 0
  %bn = icmp ne i64 %be, 0
  %cn = icmp ne i64 %ce, 0
  %ai = select i1 %an, i64 4503599627370496, i64 0
  %bi = select i1 %bn, i64 4503599627370496, i64 0
  %ci = select i1 %cn, i64 4503599627370496, i64 0
  %am = or i64 %af, %ai
  %bm = or i64 %bf, %bi
  %cm = or i64 %cf, %ci
  %ae1 = call i64 @llvm.umax.i64(i64 %ae, i64 1)
  %be1 = call i64 @llvm.umax.i64(i64 %be, i64 1)
  %ce1 = call i64 @llvm.umax.i64(i64 %ce, i64 1)
  %am128 = zext i64 %am to i128
  %bm128 = zext i64 %bm to i128
  %pm128 = mul i128 %am128, %bm128
  %abe = add i64 %ae1, %be1
  %pe = sub i64 %abe, 2150
  %ce2 = sub i64 %ce1, 1075
  %psx = xor i64 %ab, %bb
  %pneg = icmp slt i64 %psx, 0
  %cneg = icmp slt i64 %cb, 0
  %pm = zext i128 %pm128 to i256
  %cm256 = zext i64 %cm to i256
  %d = sub i64 %ce2, %pe
  %cabove = icmp sge i64 %d, 0
  br i1 %cabove, label %chigh, label %clow
chigh:
  ; The addend is shifted up by at most 140; past that the product is only sticky.
  %far = icmp sgt i64 %d, 140
  %dc = select i1 %far, i64 140, i64 %d
  %dc256 = zext i64 %dc to i256
  %cup = shl i256 %cm256, %dc256
  %cz = and i1 %far, true
  %czero = icmp eq i64 %cm, 0
  %useless = and i1 %cz, %czero
  %keepp = xor i1 %cz, true
  %keep2 = or i1 %keepp, %useless
  %pmh = select i1 %keep2, i256 %pm, i256 1
  %eh0 = sub i64 %ce2, %dc
  %eh = select i1 %useless, i64 %pe, i64 %eh0
  br label %sum
clow:
  ; The product is shifted up by at most 140; past that the addend is only sticky.
  %du = sub i64 0, %d
  %farl = icmp sgt i64 %du, 140
  %dl = select i1 %farl, i64 140, i64 %du
  %dl256 = zext i64 %dl to i256
  %pup = shl i256 %pm, %dl256
  %csome = icmp ne i64 %cm, 0
  %cbit = zext i1 %csome to i256
  %cml = select i1 %farl, i256 %cbit, i256 %cm256
  %el = sub i64 %pe, %dl
  br label %sum
sum:
  %px = phi i256 [ %pmh, %chigh ], [ %pup, %clow ]
  %cx = phi i256 [ %cup, %chigh ], [ %cml, %clow ]
  %e = phi i64 [ %eh, %chigh ], [ %el, %clow ]
  %pnv = sub i256 0, %px
  %cnv = sub i256 0, %cx
  %pv = select i1 %pneg, i256 %pnv, i256 %px
  %cv = select i1 %cneg, i256 %cnv, i256 %cx
  %t = add i256 %pv, %cv
  %tzero = icmp eq i256 %t, 0
  br i1 %tzero, label %cancel, label %round
cancel:
  ; x - x is +0; -0 only when both are negative zeros, and then the product was zero, handled above.
  ret double 0.0
round:
  %tneg = icmp slt i256 %t, 0
  %tn = sub i256 0, %t
  %mag = select i1 %tneg, i256 %tn, i256 %t
  %lz = call i256 @llvm.ctlz.i256(i256 %mag, i1 false)
  %lz64 = trunc i256 %lz to i64
  %len = sub i64 256, %lz64
  ; Drop bits to leave 53, or as many as a subnormal has: the lowest bit may not lie under 2^-1074.
  %drop0 = sub i64 %len, 53
  %least = sub i64 -1074, %e
  %drop1 = call i64 @llvm.smax.i64(i64 %drop0, i64 %least)
  %drop = call i64 @llvm.smin.i64(i64 %drop1, i64 250)
  %neg = icmp sle i64 %drop, 0
  br i1 %neg, label %exact, label %cut
exact:
  %upk = sub i64 0, %drop
  %upk256 = zext i64 %upk to i256
  %mexact = shl i256 %mag, %upk256
  %mex64 = trunc i256 %mexact to i64
  br label %pack
cut:
  %drop256 = zext i64 %drop to i256
  %hi = lshr i256 %mag, %drop256
  %hib = shl i256 %hi, %drop256
  %rest = sub i256 %mag, %hib
  %drop1less = sub i256 %drop256, 1
  %half = shl i256 1, %drop1less
  %more = icmp ugt i256 %rest, %half
  %tie = icmp eq i256 %rest, %half
  %hi64 = trunc i256 %hi to i64
  %odd = trunc i64 %hi64 to i1
  %tieup = and i1 %tie, %odd
  %up = or i1 %more, %tieup
  %up64 = zext i1 %up to i64
  %hi1 = add i64 %hi64, %up64
  br label %pack
pack:
  %m = phi i64 [ %mex64, %exact ], [ %hi1, %cut ]
  ; Adding the significand with its leading bit carries into the exponent where it must, rounding up included.
  %ee = add i64 %e, %drop
  %biased0 = add i64 %ee, 1074
  %biased = call i64 @llvm.smax.i64(i64 %biased0, i64 0)
  %over = icmp sgt i64 %biased, 2046
  %bclamp = select i1 %over, i64 2046, i64 %biased
  %eb = shl i64 %bclamp, 52
  %bits0 = add i64 %eb, %m
  %toobig = icmp ugt i64 %bits0, 9218868437227405312
  %isinf = or i1 %toobig, %over
  %bits = select i1 %isinf, i64 9218868437227405312, i64 %bits0
  %sg = select i1 %tneg, i64 -9223372036854775808, i64 0
  %rb = or i64 %bits, %sg
  %r = bitcast i64 %rb to double
  ret double %r
}
