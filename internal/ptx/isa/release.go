package isa

// Release is one of CUDA: which PTX its assembler and driver take, and the driver that came with it.
type Release struct {
	CUDA   int // as cuDriverGetVersion answers: 13040 for 13.4
	PTX    Version
	Driver string // NVIDIA's driver for Linux, the first of the release's branch
}

// releases are in order. What each release's assembler calls its current version; a release that brought no new PTX is one
// with the same version again.
var releases = []Release{
	{11000, v(7, 0), "450.36.06"}, {11010, v(7, 1), "455.23.05"}, {11020, v(7, 2), "460.27.03"}, {11030, v(7, 3), "465.19.01"},
	{11040, v(7, 4), "470.42.01"}, {11050, v(7, 5), "495.29.05"}, {11060, v(7, 6), "510.39.01"}, {11070, v(7, 7), "515.43.04"},
	{11080, v(7, 8), "520.61.05"}, {12000, v(8, 0), "525.60.13"}, {12010, v(8, 1), "530.30.02"}, {12020, v(8, 2), "535.54.03"},
	{12030, v(8, 3), "545.23.06"}, {12040, v(8, 4), "550.54.14"}, {12050, v(8, 5), "555.42.02"}, {12060, v(8, 5), "560.28.03"},
	{12080, v(8, 7), "570.26"}, {12090, v(8, 8), "575.51.03"}, {13000, v(9, 0), "580.65.06"}, {13010, v(9, 1), "590.44.01"},
	{13020, v(9, 2), "595.45.04"}, {13030, v(9, 3), "610.57.04"}, {13040, v(9, 4), "615.71.09"},
}

// Newest is the newest release whose PTX the table knows: what a driver with this table says it is.
func Newest() Release {
	r := releases[0]
	for _, x := range releases {
		if x.PTX <= Latest {
			r = x
		}
	}
	return r
}

// ReleaseOf is the release that a driver of a CUDA version belongs to: that or the next older one.
func ReleaseOf(cuda int) Release {
	r := releases[0]
	for _, x := range releases {
		if x.CUDA <= cuda {
			r = x
		}
	}
	return r
}
