package contract

// module has the kernels that the rows launch.
const module = `.version 8.0
.target sm_80
.address_size 64

.visible .global .align 8 .u64 counter = 5;
.visible .const .align 4 .u32 factor[2] = {3, 7};
.visible .global .align 8 .u64 where = counter;
.visible .global .align 4 .b8 room[100];
.visible .global .attribute(.managed) .align 4 .u32 both = 7;
.visible .global .align 8 .u64 other = both;

.visible .entry add_one(.param .u64 p, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	ld.param.u32 %r4, [n];
	setp.ge.u32 %p, %r3, %r4;
	@%p ret;
	ld.param.u64 %rd0, [p];
	mul.wide.u32 %rd1, %r3, 4;
	add.u64 %rd0, %rd0, %rd1;
	ld.global.u32 %r5, [%rd0];
	add.u32 %r5, %r5, 1;
	st.global.u32 [%rd0], %r5;
	ret;
}

.visible .entry params(.param .u8 a, .param .u64 out, .param .u16 b, .param .u32 c, .param .align 16 .b8 d[20])
{
	.reg .b16 %h<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [out];
	ld.param.u8 %h0, [a];
	cvt.u32.u16 %r0, %h0;
	st.global.u32 [%rd0], %r0;
	ld.param.u16 %h1, [b];
	cvt.u32.u16 %r1, %h1;
	st.global.u32 [%rd0+4], %r1;
	ld.param.u32 %r2, [c];
	st.global.u32 [%rd0+8], %r2;
	ld.param.u32 %r3, [d];
	st.global.u32 [%rd0+12], %r3;
	ld.param.u32 %r4, [d+16];
	st.global.u32 [%rd0+16], %r4;
	ret;
}

.visible .entry shape(.param .u64 out)
{
	.reg .b32 %r<16>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ctaid.y;
	mov.u32 %r2, %ctaid.z;
	mov.u32 %r3, %nctaid.x;
	mov.u32 %r4, %nctaid.y;
	mov.u32 %r5, %tid.x;
	mov.u32 %r6, %tid.y;
	mov.u32 %r7, %tid.z;
	mov.u32 %r8, %ntid.x;
	mov.u32 %r9, %ntid.y;
	mov.u32 %r10, %ntid.z;
	mad.lo.u32 %r11, %r2, %r4, %r1;
	mad.lo.u32 %r11, %r11, %r3, %r0;
	mad.lo.u32 %r12, %r7, %r9, %r6;
	mad.lo.u32 %r12, %r12, %r8, %r5;
	mul.lo.u32 %r13, %r8, %r9;
	mul.lo.u32 %r13, %r13, %r10;
	mad.lo.u32 %r14, %r11, %r13, %r12;
	ld.param.u64 %rd0, [out];
	mul.wide.u32 %rd1, %r14, 4;
	add.u64 %rd0, %rd0, %rd1;
	st.global.u32 [%rd0], %r14;
	ret;
}

.extern .shared .align 16 .b8 dynamic[];

.visible .entry reverse(.param .u64 out)
{
	.shared .align 4 .b8 fixed[512];
	.reg .b32 %r<10>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r9, %ctaid.x;
	shl.b32 %r2, %r0, 2;
	mov.u32 %r3, fixed;
	add.u32 %r3, %r3, %r2;
	mad.lo.u32 %r4, %r9, 1000, %r0;
	st.shared.u32 [%r3], %r4;
	mov.u32 %r5, dynamic;
	add.u32 %r5, %r5, %r2;
	shl.b32 %r6, %r4, 8;
	st.shared.u32 [%r5], %r6;
	bar.sync 0;
	sub.u32 %r7, %r1, %r0;
	sub.u32 %r7, %r7, 1;
	shl.b32 %r7, %r7, 2;
	mov.u32 %r3, fixed;
	add.u32 %r3, %r3, %r7;
	ld.shared.u32 %r4, [%r3];
	mov.u32 %r5, dynamic;
	add.u32 %r5, %r5, %r7;
	ld.shared.u32 %r6, [%r5];
	add.u32 %r4, %r4, %r6;
	mad.lo.u32 %r8, %r9, %r1, %r0;
	ld.param.u64 %rd0, [out];
	mul.wide.u32 %rd1, %r8, 4;
	add.u64 %rd0, %rd0, %rd1;
	st.global.u32 [%rd0], %r4;
	ret;
}

.visible .entry bump()
{
	.reg .b64 %rd<2>;
	mov.u64 %rd0, 1;
	atom.global.add.u64 %rd1, [counter], %rd0;
	ret;
}

.visible .entry read(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<8>;
	ld.global.u64 %rd0, [counter];
	ld.const.u32 %r0, [factor+4];
	cvt.u64.u32 %rd1, %r0;
	mul.lo.u64 %rd2, %rd0, %rd1;
	ld.global.u64 %rd3, [where];
	ld.global.u64 %rd4, [%rd3];
	ld.param.u64 %rd5, [out];
	st.global.u64 [%rd5], %rd2;
	st.global.u64 [%rd5+8], %rd4;
	ret;
}

.visible .entry twice()
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.global.u64 %rd0, [other];
	ld.global.u32 %r0, [%rd0];
	ld.global.u32 %r1, [both];
	add.u32 %r0, %r0, %r1;
	st.global.u32 [both], %r0;
	ret;
}

.visible .entry bad(.param .u64 p)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [p];
	st.global.u64 [%rd0], %rd0;
	ret;
}
`
