package cufft

import (
	"bufio"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

var all = flag.Bool("all", false, "compare every recorded transform, not some of each kind")

// recordedShape is a transform and what an H200 made of it: testdata/record.c.
type recordedShape struct {
	shape
	made, done int32
	values     map[int]uint64
}

func readRecorded(t *testing.T) (list []*recordedShape) {
	f, err := os.Open("testdata/h200.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(z)
	for in.Scan() {
		parts := strings.Split(in.Text(), "|")
		v := make([]int64, 20)
		for i, w := range strings.Fields(parts[0]) {
			if v[i], err = strconv.ParseInt(w, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		r := &recordedShape{values: map[int]uint64{}}
		rank := v[2]
		r.shape = shape{storage: int(v[0]), kind: kind(v[1]), n: v[3 : 3+rank : 6], batch: v[6], advanced: v[7] == 1, is: v[8], id: v[9], os: v[10], od: v[11],
			inPlace: v[16] == 1, sign: int32(v[17]), by: int(v[18]), size: v[19]}
		if r.advanced {
			r.ie, r.oe = append([]int64{r.n[0]}, v[12:14]...)[:rank], append([]int64{r.n[0]}, v[14:16]...)[:rank]
		}
		var sync int32
		if _, err := fmt.Sscan(parts[1], &r.made, &r.done, &sync); err != nil {
			t.Fatal(err)
		}
		for _, w := range strings.Fields(parts[2]) {
			at, bits, _ := strings.Cut(w, ":")
			i, _ := strconv.Atoi(at)
			if r.values[i], err = strconv.ParseUint(bits, 16, 64); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, r)
	}
	return list
}

// TestRecorded compares transforms with those of cuFFT 12.0 on an H200. Both round, so that numbers are within a few units of the
// output's size.
func TestRecorded(t *testing.T) {
	th := thread(t)
	worst := map[int]float64{}
	for i, r := range readRecorded(t) {
		if !*all && (i%23 != 0 || r.total() > 5000) {
			continue
		}
		got, made, done := r.run(t, th, noise(int(r.size), 1), 0)
		if code(made) != r.made || done != nil {
			t.Errorf("%+v: plan %d, execution %v, an H200 says %d, %d", r.shape, code(made), done, r.made, r.done)
			continue
		}
		// What an H200 makes of imaginary parts that real numbers' spectra do not have depends on the length.
		if r.kind == toRealKind && (r.total() >= 8192 || r.n[len(r.n)-1] == 1) {
			continue
		}
		written := r.written()
		size := math.Sqrt(float64(r.total()/int(r.batch))) * storages[r.storage].epsilon
		for at, bits := range r.values {
			// The recorder looks at eight numbers even of fewer, and at gaps.
			if at >= len(got) || !written[at] {
				continue
			}
			want := r.unpack(bits)
			e := math.Abs(got[at]-want) / size
			worst[r.storage] = max(worst[r.storage], e)
			if !(e <= 24) {
				t.Errorf("%+v: number %d is %g, want %g: %.1f units", r.shape, at, got[at], want, e)
				break
			}
		}
	}
	t.Logf("worst differences by storage type, in units: %v", worst)
}

func code(err error) int32 {
	if err == nil {
		return 0
	}
	var s Status
	if errors.As(err, &s) {
		return int32(s)
	}
	return -1
}
