package check

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/ptx/isa/spell"
)

// gridFile has the word of ptxas 13.4 on the lines of matrixGrid, as verdictFile; behind a refused line and a # its message.
// KUDZU_PTXAS=path go test -run TestRecordGrid ./internal/ptx/check writes it anew.
const gridFile = "../../../testdata/isa/matrix-grid.gz"

var gridProfile = spell.Profile{Target: "sm_120a", Version: "9.4"}

// matrixGrid are block-scaled products and wgmma in all combinations of their words, most of them wrong, and right ones for other targets.
func matrixGrid() map[spell.Profile][]string {
	by := map[spell.Profile][]string{gridProfile: append(scaledGrid(), scaledOperands()...)}
	right := []string{
		scaled("", "m16n8k32", "mxf8f6f4", "1X", "e4m3.e2m1", ".ue8m0"), scaled("", "m16n8k64", "mxf4", "2X", "e2m1.e2m1", ".ue8m0"),
		scaled("", "m16n8k64", "mxf4nvf4", "4X", "e2m1.e2m1", ".ue4m3"), scaled(".sp::ordered_metadata", "m16n8k128", "mxf4nvf4", "4X", "e2m1.e2m1", ".ue4m3"),
		scaled(".sp::ordered_metadata", "m16n8k64", "mxf8f6f4", "1X", "e4m3.e2m1", ".ue8m0"), scaled(".sp::ordered_metadata", "m16n8k128", "mxf4", "2X", "e2m1.e2m1", ".ue8m0"),
	}
	for _, p := range []spell.Profile{
		{Target: "sm_120a", Version: "8.7"}, {Target: "sm_120a", Version: "8.6"}, {Target: "sm_120f", Version: "8.8"}, {Target: "sm_120", Version: "9.4"}, {Target: "sm_121a", Version: "9.4"},
		{Target: "sm_121f", Version: "9.4"}, {Target: "sm_121", Version: "9.4"}, {Target: "sm_100a", Version: "9.4"}, {Target: "sm_103f", Version: "9.4"}, {Target: "sm_110a", Version: "9.4"}, {Target: "sm_90a", Version: "9.4"},
	} {
		by[p] = slices.Clone(right)
	}
	group := wgmmaGrid()
	hopper := spell.Profile{Target: "sm_90a", Version: "9.4"}
	by[hopper] = append(by[hopper], group...)
	some := []string{group[0], "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"}
	for _, p := range []spell.Profile{{Target: "sm_90", Version: "9.4"}, {Target: "sm_80", Version: "9.4"}, {Target: "sm_100a", Version: "9.4"}, {Target: "sm_120a", Version: "9.4"}, {Target: "sm_90a", Version: "8.0"}} {
		by[p] = append(by[p], some...)
	}
	return by
}

func scaledGrid() []string {
	var lines []string
	for _, sp := range []string{"", ".sp", ".sp::ordered_metadata"} {
		for _, shape := range []string{"m16n8k16", "m16n8k32", "m16n8k64", "m16n8k128"} {
			for _, kind := range []string{"f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"} {
				for _, vec := range []string{"", "1X", "2X", "4X"} {
					for _, types := range []string{"e2m1.e2m1", "e4m3.e4m3", "e4m3.e2m1", "e5m2.e3m2", "e2m3.e2m1", "f16.f16"} {
						for _, stype := range []string{".ue8m0", ".ue4m3", ""} {
							lines = append(lines, scaled(sp, shape, kind, vec, types, stype))
						}
					}
				}
			}
		}
	}
	return lines
}

// scaled is one block-scaled product.
func scaled(sp, shape, kind, vec, types, stype string) string {
	if vec != "" {
		vec = ".scale_vec::" + vec
	}
	b, meta := "{r4, r5}", ""
	if sp != "" {
		b, meta = "{r4, r5, r6, r7}", ", r8, 0"
	}
	return fmt.Sprintf("mma%s.sync.aligned.%s.row.col.kind::%s.block_scale%s.f32.%s.f32%s {f0, f1, f2, f3}, {r0, r1, r2, r3}, %s, {f4, f5, f6, f7}%s, r9, {h0, h1}, r10, {h2, h3};",
		sp, shape, kind, vec, types, stype, b, meta)
}

// scaledOperands are right words with other operands.
func scaledOperands() []string {
	var lines []string
	for _, words := range []string{
		"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
	} {
		for _, scales := range []string{
			"r9, {0, 0}, r10, {0, 0}", "r9, {1, 0}, r10, {1, 1}", "r9, {2, 0}, r10, {2, 1}", "r9, {3, 1}, r10, {3, 3}", "r9, {4, 0}, r10, {0, 0}", "r9, {0, 2}, r10, {0, 0}", "r9, {0, 3}, r10, {0, 0}",
			"r9, {0, 4}, r10, {0, 0}", "r9, {0, 0}, r10, {0, 4}", "r9, {-1, 0}, r10, {0, 0}", "r9, {h0, 1}, r10, {2, h1}", "r9, {uh0, uh1}, r10, {0, 0}", "r9, {r1, 0}, r10, {0, 0}", "r9, {0}, r10, {0, 0}",
			"r9, {0, 0, 0}, r10, {0, 0}", "r9, 0, r10, 0", "f9, {0, 0}, r10, {0, 0}", "h0, {0, 0}, r10, {0, 0}", "sr0, {0, 0}, r10, {0, 0}", "5, {0, 0}, 6, {0, 0}", "r9, {0, 0}", "r9, {0, 0}, r10",
		} {
			lines = append(lines, words+" {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {f4, f5, f6, f7}, "+scales+";")
		}
		for _, matrices := range []string{
			"{f0, f1}, {r0, r1, r2, r3}, {r4, r5}, {f4, f5, f6, f7}", "{f0, f1, f2, f3}, {r0, r1}, {r4, r5}, {f4, f5, f6, f7}", "{f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4}, {f4, f5, f6, f7}",
			"{f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5, r6, r7}, {f4, f5, f6, f7}", "{r0, r1, r2, r3}, {r0, r1, r2, r3}, {r4, r5}, {f4, f5, f6, f7}", "{f0, f1, f2, f3}, {f0, f1, f2, f3}, {r4, r5}, {f4, f5, f6, f7}",
			"{f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {fx0, fx1}", "{f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {1.0, 1.0, 1.0, 1.0}",
			"{f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {f4, f5, f6, 0f00000000}", "{f0, f1, f2, f3}, {0, 0, 0, 0}, {r4, r5}, {f4, f5, f6, f7}", "{f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, 0}, {f4, f5, f6, f7}",
		} {
			lines = append(lines, words+" "+matrices+", r9, {0, 0}, r10, {0, 0};")
		}
		for from, to := range map[string]string{".row.col": ".row.row", ".row.col.": ".col.col.", ".block_scale": "", ".f32.e": ".f16.e", ".f32.u": ".f16.u", ".aligned": "", ".kind::": ".kind::x"} {
			lines = append(lines, strings.Replace(words, from, to, 1)+" {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {f4, f5, f6, f7}, r9, {0, 0}, r10, {0, 0};")
		}
	}
	slices.Sort(lines)
	return lines
}

// wgmmaGrid are shapes and types of wgmma.
func wgmmaGrid() []string {
	var lines []string
	for _, sp := range []string{"", ".sp"} {
		for _, n := range []int{8, 24, 40, 12, 264} {
			for _, k := range []int{8, 16, 32, 64, 256} {
				for _, d := range []string{"f32", "f16", "s32"} {
					for _, types := range []string{"f16.f16", "bf16.bf16", "tf32.tf32", "e4m3.e5m2", "s8.u8", "b1.b1", "f16.bf16", "s4.s4", "f32.f32", "e4m3.f16"} {
						lines = append(lines, group(sp, n, k, d, types))
					}
				}
			}
		}
	}
	return lines
}

// group is one wgmma, with operands as its types want them.
func group(sp string, n, k int, d, types string) string {
	reg, count := map[string]string{"f32": "f", "f16": "r", "s32": "r"}[d], n/2
	if d == "f16" {
		count = n / 4
	}
	var acc []string
	for i := range max(count, 1) {
		acc = append(acc, fmt.Sprint(reg, i))
	}
	line := fmt.Sprintf("wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s.%s", sp, n, k, d, types)
	if types == "b1.b1" {
		line += ".and.popc"
	}
	line += " {" + strings.Join(acc, ", ") + "}, d0, d1"
	if sp != "" {
		line += ", r299, 0"
	}
	line += ", p0"
	switch types {
	case "f16.f16", "bf16.bf16", "f16.bf16":
		line += ", 1, 1, 0, 0"
	case "tf32.tf32", "e4m3.e5m2", "f32.f32", "e4m3.f16":
		line += ", 1, 1"
	}
	return line + ";"
}

// TestRecordGrid asks the assembler named by KUDZU_PTXAS.
func TestRecordGrid(t *testing.T) {
	tool := os.Getenv("KUDZU_PTXAS")
	if tool == "" {
		t.Skip("KUDZU_PTXAS names no assembler")
	}
	f, err := os.Create(gridFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	by := matrixGrid()
	for _, p := range sortedProfiles(by) {
		fmt.Fprintf(z, "= %s %s\n", p.Version, p.Target)
		for i, msg := range ptxas(t, tool, p, by[p]) {
			switch msg {
			case crashed:
			case "":
				fmt.Fprintf(z, "+%s\n", by[p][i])
			default:
				fmt.Fprintf(z, "-%s # %s\n", by[p][i], msg)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMatrixGrid: we take what the assembler takes, and refuse what it refuses.
func TestMatrixGrid(t *testing.T) {
	f, err := os.Open(gridFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var p spell.Profile
	lines, words := map[spell.Profile][]string{}, map[spell.Profile][]string{}
	in := bufio.NewScanner(z)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		if head, ok := strings.CutPrefix(line, "= "); ok {
			p.Version, p.Target, _ = strings.Cut(head, " ")
			continue
		}
		text, msg, _ := strings.Cut(line[1:], " # ")
		lines[p], words[p] = append(lines[p], text), append(words[p], msg)
	}
	total, accepted, same := 0, 0, 0
	for _, p := range sortedProfiles(lines) {
		for i, msg := range ours(p, lines[p]) {
			want := words[p][i]
			total++
			if want == "" {
				accepted++
			}
			if msg == want {
				same++
			}
			if (msg == "") != (want == "") {
				t.Errorf("%s %s: %s\n we: %q\n ptxas: %q", p.Version, p.Target, lines[p][i], msg, want)
			}
		}
	}
	t.Logf("%d lines, %d accepted, %d with the assembler's words", total, accepted, same)
	if total < 4000 || accepted < 80 {
		t.Errorf("the record has %d lines, %d accepted", total, accepted)
	}
}
