package isa

import "testing"

func TestReleases(t *testing.T) {
	for i := range releases[1:] {
		if a, b := releases[i], releases[i+1]; a.CUDA >= b.CUDA || a.PTX > b.PTX {
			t.Errorf("%v stands before %v", a, b)
		}
	}
	if r := Newest(); r.PTX != Latest {
		t.Errorf("no release for PTX %d.%d: the newest is %v", Latest.Major(), Latest.Minor(), r)
	}
	for cuda, want := range map[int]int{13040: 13040, 13000: 13000, 12070: 12060, 99000: 13040, 5000: 11000} {
		if r := ReleaseOf(cuda); r.CUDA != want {
			t.Errorf("%d belongs to %d, want %d", cuda, r.CUDA, want)
		}
	}
}
