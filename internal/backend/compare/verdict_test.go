package compare

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"kudzu/internal/backend/tap"
)

func words(list ...uint32) []byte {
	var b []byte
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func floats(list ...float32) []byte {
	var b []byte
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func doubles(list ...uint64) []byte {
	var b []byte
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// Each reason explains what it is a reason for, and nothing else.
func TestJudge(t *testing.T) {
	near := math.Nextafter32(1000, 2000)
	for _, c := range []struct {
		name              string
		device, reference []byte
		t                 traits
		want, why         string
	}{
		{"integers", words(1, 2), words(1, 3), traits{}, Different, ""},
		{"permuted without atomics", words(1, 2), words(2, 1), traits{matrix: true}, Different, "matrix"},
		{"permuted", words(1, 2, 3, 4), words(4, 1, 2, 3), traits{atomics: true}, Explained, "order of atomics"},
		{"a last byte", append(words(1, 2), 7), append(words(1, 2), 8), traits{atomics: true}, Different, ""},
		{"a last byte of a product", append(floats(1000), 7), append(floats(near), 8), traits{matrix: true, stores: kinds{f32: true}}, Different, "does not explain"},
		{"not permuted", words(1, 2, 3, 4), words(4, 1, 2, 2), traits{atomics: true}, Different, ""},
		{"last bit", floats(1000, 3), floats(near, 3), traits{}, Different, ""},
		{"last bit of a product", floats(1000, 3), floats(near, 3), traits{matrix: true, stores: kinds{f32: true}}, Explained, "f32"},
		{"last bit of a sum", floats(1000, 3), floats(near, 3), traits{sums: true, atomics: true, stores: kinds{f32: true}}, Explained, "among threads"},
		{"waiting alone", floats(1000, 3), floats(near, 3), traits{waits: true}, Different, ""},
		{"far off", floats(1000, 3), floats(1001, 3), traits{matrix: true, stores: kinds{f32: true}}, Different, "does not explain"},
		{"far off, f16 between", floats(1000, 3), floats(1001, 3), traits{matrix: true, f16: true, stores: kinds{f32: true}}, Explained, "f32"},
		{"farther off, f16 between", floats(1000, 3), floats(1004, 3), traits{matrix: true, f16: true, stores: kinds{f32: true}}, Different, "2^-8.0 as f32"},
		{"beside something large", floats(1, 1e30), floats(1.1, 1e30), traits{matrix: true, stores: kinds{f32: true}}, Different, "does not explain"},
		{"not a number", floats(1000, 3), floats(float32(math.NaN()), 3), traits{matrix: true}, Different, "does not explain"},
		{"payloads", doubles(0x7ff8000000000001, 5), doubles(0xfff8000000000000, 5), traits{stores: kinds{f64: true}}, Explained, "NaN"},
		{"a payload and more", doubles(0x7ff8000000000001, 5), doubles(0xfff8000000000000, 6), traits{stores: kinds{f64: true}}, Different, ""},
		{"halves", words(0x3c003c00), words(0x3c003c01), traits{matrix: true, stores: kinds{f16: true}}, Explained, "of the largest f16"},
		{"time", words(1), words(2), traits{clock: true}, Explained, "time"},
	} {
		got, why := judge([]tap.Delta{{Device: c.device, Reference: c.reference}}, c.t, nil)
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s, %s", c.name, got, why)
		}
	}
	if got, _ := judge(nil, traits{}, nil); got != Same {
		t.Errorf("no difference: %s", got)
	}
}

// What atomics explain grows with their number at the address, and with nothing else.
func TestJudgeSums(t *testing.T) {
	const base = 0x1000
	half := traits{sums: true, atomics: true, stores: kinds{f16: true}}
	device, reference := words(0x4081_4067), words(0x407f_4061) // 2^-8.0 and 2^-7.6 of 2.25
	for _, c := range []struct {
		name string
		adds map[cell]int
		want string
	}{
		{"nobody adds", nil, Different},
		{"two addends", map[cell]int{{base, 2}: 2}, Different},
		{"many", map[cell]int{{base, 2}: 16, {base + 2, 2}: 16}, Explained},
		{"many elsewhere", map[cell]int{{base + 2, 2}: 1000, {base + 4, 4}: 1000, {base, 2}: 2}, Different},
		{"many of the pair", map[cell]int{{base - 8, 8}: 1000, {base, 4}: 16}, Explained},
	} {
		a := newAddends()
		count := a.counter()
		for at, n := range c.adds {
			for range n {
				count(at.addr, at.size)
			}
		}
		im := tap.Image{{Base: base, Live: device}}
		if got, why := judge([]tap.Delta{{Device: device, Reference: reference}}, half, a.in(im)); got != c.want {
			t.Errorf("%s: %s, %s", c.name, got, why)
		}
	}
}

// A difference in the last bytes of a region is a word, too.
func TestWhere(t *testing.T) {
	device, ref := []byte{1, 2, 3, 4, 5, 6, 7}, []byte{1, 2, 3, 4, 5, 6, 8}
	im := tap.Image{{Base: 0x1000, Live: device}}
	list := where(im, []tap.Delta{{Device: device, Reference: ref}})
	if len(list) != 1 || list[0].Words != 1 || list[0].Offset != 4 || len(list[0].Places) != 1 || len(list[0].Places[0].Device) != 7 || !strings.HasPrefix(list[0].Device, "0x00070605 ") {
		t.Errorf("%+v", list)
	}
}

// Kernels of a program that is unloaded are not remembered.
func TestForget(t *testing.T) {
	c := &comparer{states: map[*tap.Kernel]*kernel{}}
	one, two := &tap.Kernel{}, &tap.Kernel{}
	c.kernel(one)
	c.kernel(two)
	if c.Forget([]*tap.Kernel{one}); len(c.states) != 1 || c.states[two] == nil {
		t.Errorf("%v", c.states)
	}
}

func TestTraits(t *testing.T) {
	for text, want := range map[string]traits{
		"\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1};":              {matrix: true},
		"\tmma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1}, {%r1};":                {},
		"\twgmma.fence.sync.aligned;":                                                    {},
		"@%p1 red.global.add.f32 [%rd1], %f1;":                                           {sums: true, atomics: true, stores: kinds{f32: true}},
		"\tatom.shared.add.f32 %f1, [%r1], %f1;":                                         {sums: true, atomics: true},
		"\tred.global.add.noftz.bf16x2 [%rd1], %r1;":                                     {sums: true, atomics: true, stores: kinds{bf16: true}},
		"\tatom.global.add.u32 %r1, [%rd1], 1;":                                          {atomics: true},
		"\tatom.global.cas.b32 %r1, [%rd1], %r2, %r3;\n\tadd.f16 %h1, %h1, %h2;":         {sums: true, atomics: true, floats: true, stores: kinds{f16: true}},
		"\tst.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};\n\tst.shared.f64 [%r1], %fd1;": {stores: kinds{f32: true}},
		"\tst.global.b32 [%rd1], %r1;\n\tcvt.rn.f16.f32 %h1, %f1;":                       {f16: true, stores: kinds{f32: true, f16: true}},
		"\tst.global.u16 [%rd1], %rs1;\n\tcvt.rn.bf16.f32 %h1, %f1;":                     {bf16: true, stores: kinds{bf16: true}},
		"\tld.relaxed.gpu.global.u32 %r1, [%rd1];":                                       {waits: true},
		"\tmov.u32 %r1, %clock;":                                                         {clock: true},
		".extern .func (.param .b64 r) malloc\n(\n.param .b64 n\n)\n;":                   {heap: true},
		".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f);":   {heap: true},
		"// malloc\n.entry my_malloc() { ret; }":                                         {},
		"$L1: // red.add.f32\n\tadd.u32 %r1, %r1, 1;":                                    {},
	} {
		if got := traitsOf(text); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestParseLimits(t *testing.T) {
	l, err := ParseLimits("launches=7,seconds=0.5,memory=64M,only=^a")
	if err != nil || l.Launches != 7 || l.Time.Milliseconds() != 500 || l.Memory != 64<<20 || !l.Only.MatchString("ab") || l.Threads == 0 {
		t.Errorf("%+v, %v", l, err)
	}
	for _, bad := range []string{"yes", "launches", "seconds=x", "only=[", "launches=1,memory=1"} {
		if _, err := ParseLimits(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
