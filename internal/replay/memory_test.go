package replay

import (
	"bytes"
	"slices"
	"testing"
)

// Regions share pages, and two runners share regions: memory is there as long as one of them uses it.
func TestPlace(t *testing.T) {
	const base, page = 0x5_1000_0000, pageBytes
	regions := [][2]uint64{{base + 100, 5 * page}, {base + 6*page, 3 * page}, {base + 4*page, 3 * page}} // the last one over the others
	for range 2 {
		for _, r := range regions {
			if err := place(r[0], r[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	hostBytes(base, 9*page)[0] = 1
	unplace(regions[0][0], regions[0][1])
	unplace(regions[2][0], regions[2][1])
	unplace(regions[1][0], regions[1][1])
	if b := hostBytes(base, 9*page); b[0] != 1 {
		t.Error("memory that is in use is gone")
	}
	for _, r := range regions {
		unplace(r[0], r[1])
	}
	if n := slices.IndexFunc(spans, func(s span) bool { return s.first >= base && s.end <= base+9*page }); n >= 0 {
		t.Errorf("left: %+v", spans[n])
	}
	if err := mapPages(base, base+9*page); err != nil { // nothing is there
		t.Fatal(err)
	}
	if err := place(base-page, 3*page); err == nil {
		t.Error("memory of others was taken")
	}
	if err := mapPages(base-page, base); err != nil {
		t.Errorf("left behind: %v", err)
	}
}

// The rest of a region that is no whole number of values shows bytes of the region only.
func TestRest(t *testing.T) {
	all := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for n := 1; n < 8; n++ {
		want, got := all[:n], bytes.Clone(all)[:n]
		got[n-1] = 99
		for _, text := range []string{"", "st.global.b16 [%a], %h;", "st.global.b64 [%a], %l;", "st.global.u32 [%a], %r;"} {
			d := Difference{Want: want, Got: got, StoreText: text}
			d.guess("")
			if int(d.Offset)+len(d.Want) > n || bytes.Equal(d.Want, d.Got) {
				t.Errorf("%d bytes, %q: %s", n, text, &d)
			}
		}
	}
}
