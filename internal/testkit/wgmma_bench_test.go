package testkit

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/testkit/compiled"
)

// productLoop is a kernel whose four warps multiply 64×64 by 64×128 halves in shared memory, iters times, with a barrier in every turn. Both
// variants read the same matrices, swizzled by 128 bytes.
func productLoop(wgmma bool) string {
	var b strings.Builder
	b.WriteString(groupHeader)
	b.WriteString(`.visible .entry k(.param .u64 out, .param .u32 iters)
{
	.reg .b32 %me, %i, %x, %y, %at, %row, %chunk, %base, %warp, %lane, %a<8>, %b<16>, %ra<2>, %rb<4>, %ca<4>, %cb<4>;
	.reg .f32 %d<64>;
	.reg .b64 %p0, %ad<4>, %bd<4>, %off;
	.reg .pred %q;
	mov.u32 %me, %tid.x;
	mov.u32 %base, image_shared;
	ld.param.u32 %i, [iters];
	mov.u32 %x, %me;
fill:
	shl.b32 %at, %x, 2;
	add.u32 %at, %at, %base;
	st.shared.u32 [%at], 0x3c003c00;
	add.u32 %x, %x, 128;
	setp.lt.u32 %q, %x, 6144;
	@%q bra fill;
	shr.u32 %warp, %me, 5;
	and.b32 %lane, %me, 31;
`)
	for i := range 64 {
		fmt.Fprintf(&b, "\tmov.f32 %%d%d, 0f00000000;\n", i)
	}
	if wgmma {
		b.WriteString("\tshr.u32 %x, %base, 4;\n\tcvt.u64.u32 %off, %x;\n\tor.b64 %ad0, %off, 0x4000004000010000;\n")
		b.WriteString("\tadd.u64 %bd0, %ad0, 512;\n")
		for s := 1; s < 4; s++ {
			fmt.Fprintf(&b, "\tadd.u64 %%ad%d, %%ad0, %d;\n\tadd.u64 %%bd%d, %%bd0, %d;\n", s, 2*s, s, 2*s)
		}
		b.WriteString("loop:\n\tbar.sync 0;\n\twgmma.fence.sync.aligned;\n")
		f := groupForm{n: 128, d: "f32", a: "f16", b: "f16", scaleA: 1, scaleB: 1}
		for s := range 4 {
			line := strings.NewReplacer("%ad", fmt.Sprintf("%%ad%d", s), "%bd", fmt.Sprintf("%%bd%d", s), "%p", "1").Replace(f.instruction())
			b.WriteString("\t" + line + "\n")
		}
		b.WriteString("\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n")
	} else {
		// Warps are 2 by 2, each of 32 rows and 64 columns. A lane's row of four tiles: rows lane%8 (+8), chunks lane/16 of a; of b the other way round.
		b.WriteString("\tand.b32 %row, %lane, 15;\n\tshr.u32 %chunk, %lane, 4;\n\tand.b32 %x, %warp, 1;\n\tshl.b32 %x, %x, 5;\n\tadd.u32 %row, %row, %x;\n")
		b.WriteString("\tshl.b32 %ra0, %row, 7;\n\tadd.u32 %ra0, %ra0, %base;\n\tadd.u32 %ra1, %ra0, 2048;\n\tand.b32 %y, %row, 7;\n")
		for s := range 4 {
			fmt.Fprintf(&b, "\tadd.u32 %%ca%d, %%chunk, %d;\n\txor.b32 %%ca%d, %%ca%d, %%y;\n\tshl.b32 %%ca%d, %%ca%d, 4;\n", s, 2*s, s, s, s, s)
		}
		b.WriteString("\tshr.u32 %chunk, %lane, 3;\n\tand.b32 %chunk, %chunk, 1;\n\tand.b32 %row, %lane, 7;\n\tshr.u32 %x, %lane, 4;\n\tshl.b32 %x, %x, 3;\n\tadd.u32 %row, %row, %x;\n")
		b.WriteString("\tshr.u32 %x, %warp, 1;\n\tshl.b32 %x, %x, 6;\n\tadd.u32 %row, %row, %x;\n\tshl.b32 %rb0, %row, 7;\n\tadd.u32 %rb0, %rb0, %base;\n\tadd.u32 %rb0, %rb0, 8192;\n\tand.b32 %y, %row, 7;\n")
		for j := 1; j < 4; j++ {
			fmt.Fprintf(&b, "\tadd.u32 %%rb%d, %%rb0, %d;\n", j, 2048*j)
		}
		for s := range 4 {
			fmt.Fprintf(&b, "\tadd.u32 %%cb%d, %%chunk, %d;\n\txor.b32 %%cb%d, %%cb%d, %%y;\n\tshl.b32 %%cb%d, %%cb%d, 4;\n", s, 2*s, s, s, s, s)
		}
		b.WriteString("loop:\n\tbar.sync 0;\n")
		for s := range 4 {
			for h := range 2 {
				fmt.Fprintf(&b, "\tadd.u32 %%at, %%ra%d, %%ca%d;\n\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%a%d, %%a%d, %%a%d, %%a%d}, [%%at];\n", h, s, 4*h, 4*h+1, 4*h+2, 4*h+3)
			}
			for j := range 4 {
				fmt.Fprintf(&b, "\tadd.u32 %%at, %%rb%d, %%cb%d;\n\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%b%d, %%b%d, %%b%d, %%b%d}, [%%at];\n", j, s, 4*j, 4*j+1, 4*j+2, 4*j+3)
			}
			for h := range 2 {
				for j := range 8 {
					d := 4 * (8*h + j)
					acc := fmt.Sprintf("{%%d%d, %%d%d, %%d%d, %%d%d}", d, d+1, d+2, d+3)
					fmt.Fprintf(&b, "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %s, {%%a%d, %%a%d, %%a%d, %%a%d}, {%%b%d, %%b%d}, %s;\n", acc, 4*h, 4*h+1, 4*h+2, 4*h+3, 2*j, 2*j+1, acc)
				}
			}
		}
	}
	b.WriteString("\tsub.u32 %i, %i, 1;\n\tsetp.ne.u32 %q, %i, 0;\n\t@%q bra loop;\n\tld.param.u64 %p0, [out];\n\tmul.wide.u32 %off, %me, 4;\n\tadd.u64 %p0, %p0, %off;\n")
	for i := range 64 {
		fmt.Fprintf(&b, "\tst.global.f32 [%%p0+%d], %%d%d;\n", 512*i, i)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// BenchmarkWarpgroup compares products of wgmma with those of mma.sync, on one core: billions of multiplications and additions a second.
func BenchmarkWarpgroup(b *testing.B) {
	b.Setenv(config.Tier, compile.Optimised.String())
	devs, err := devices.CPU(compiled.Config(b)).Open()
	if err != nil {
		b.Fatal(err)
	}
	for _, wgmma := range []bool{false, true} {
		b.Run(map[bool]string{false: "mma.sync", true: "wgmma"}[wgmma], func(b *testing.B) {
			const iters = 500
			run := &Run{Kernel: "k", Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{128, 1, 1}, Shared: 24 << 10,
				Args: []Arg{{Type: F32, Buffer: true, Result: 0, Values: make([]uint64, 64*128)}, {Type: U32, Result: -1, Values: []uint64{1}}}}
			c := &Case{PTX: productLoop(wgmma), Runs: []*Run{run}}
			once := func(n uint64) time.Duration {
				run.Args[1].Values[0] = n
				start := processorTime(b)
				out, err := c.Execute(devs[0], func(ptx string) (*backend.Module, error) { return driver.Describe("products", ptx, 90) })
				if err != nil {
					b.Fatal(err)
				}
				for i, v := range out[0].Results[0] {
					if want := encode(int(64*n), "f32"); v != want {
						b.Fatalf("element %d is %#x, want %#x", i, v, want)
					}
				}
				return processorTime(b) - start
			}
			once(1)
			best := time.Duration(1 << 62)
			for range b.N {
				best = min(best, once(iters)-once(1))
			}
			b.ReportMetric(2*64*128*64*(iters-1)/best.Seconds()/1e9, "GFLOPS")
		})
	}
}

// processorTime is what this process has used: other work on the machine does not count.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}
