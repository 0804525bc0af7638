package warp_test

import (
	"fmt"
	"strings"
	"testing"

	"kudzu/internal/image"
)

// TestTextureTold: the runtime is told that all lanes have one handle or one second word, and that only the first result is read, where it is so.
func TestTextureTold(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
.reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg .b64 %%d<9>;
ld.param.u64 %%d0, [out]; ld.param.u64 %%d1, [in]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d2, %%r0, 8; add.u64 %%d3, %%d1, %%d2; add.u64 %%d4, %%d0, %%d2;
ld.global.u64 %%d5, [%%d3]; ld.global.f32 %%f0, [%%d3]; ld.global.f32 %%f1, [%%d1];
tex.2d.v4.f32.f32 {%%f2, %%f3, %%f4, %%f5}, [%s, {%%f0, %s}];
st.global.f32 [%%d4], %s; ret; }`
	const all = image.TexOneHandle | image.TexOneRow | image.TexOneResult
	for _, c := range []struct {
		handle, row, result string
		told                int
	}{
		{"%d1", "%f1", "%f2", all},
		{"%d5", "%f1", "%f2", all &^ image.TexOneHandle},
		{"%d1", "%f0", "%f2", all &^ image.TexOneRow},
		{"%d1", "%f1", "%f3", all &^ image.TexOneResult},
	} {
		k := compile(t, fromPTX(t, fmt.Sprintf(text, c.handle, c.row, c.result), "k"), [3]uint32{32, 1, 1}, cpus[0])
		if op := fmt.Sprintf("i32 %d, i32 -1", image.TexGeom2D<<image.TexGeomShift|c.told); !strings.Contains(k.text, op) {
			t.Errorf("%s %s %s: no call with %s", c.handle, c.row, c.result, op)
		}
	}
}
