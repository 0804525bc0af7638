package testkit

import (
	"strconv"
	"strings"
	"testing"
)

// noBias is attention with residuals and without biases.
const noBias = " heads 3 sizes 8 8 8 to 4 4 4 8 beams 1 bias 0 map 0 residual 1 window 0 "

// dnnOther are results of an H200 with cuDNN 9.14 that ours are not, with the reason.
var dnnOther = []struct{ prefix, why string }{
	{"pointwise f16 mode 100 ", "the engine that the H200 chose leaves limits and slope of a ReLU out"}, {"pointwise bf16 mode 100 ", "as above"},
	{"pointwise f16 mode 200 ", "as above"}, {"pointwise bf16 mode 200 ", "as above"},
	{"attention f16" + noBias + "out", "the H200 gives twice the sum"}, {"attention f16" + noBias + "inference", "as above"},
	{"attention f32" + noBias + "out", "as above"}, {"attention f32" + noBias + "inference", "as above"},
	{"attention f64" + noBias + "out", "as above"}, {"attention f64" + noBias + "inference", "as above"},
	{"pointwise f16 mode 24 ", "9.14 does not have it yet"}, {"pointwise bf16 mode 24 ", "as above"},
	{"pointwise f16 mode 104 ", "the H200's erf is an approximation, off by 2e-4"}, {"pointwise bf16 mode 104 ", "as above"},
	{"reduction f16 op 1 all 1 ", "a product below the normal range, which the H200 flushes to 0"}, {"reduction bf16 op 1 all 1 ", "as above"},
}

// dnnKey is what a line is about: "what: status ~bound numbers", or a line that must be there as it is.
func dnnKey(line string) string {
	what, _, _ := strings.Cut(line, ": ")
	return what
}

// dnnDiffers says how a line is not what was recorded. What the H200 did not support may be supported here.
func dnnDiffers(got, want string) string {
	_, g, _ := strings.Cut(got, ": ")
	_, w, _ := strings.Cut(want, ": ")
	a, b := strings.Fields(g), strings.Fields(w)
	switch {
	case got == want || len(b) > 0 && b[0] == "3000":
		return ""
	case len(a) != len(b) || a[0] != b[0] || len(b) < 2 || !strings.HasPrefix(b[1], "~"):
		return "another answer"
	}
	share, err := strconv.ParseFloat(b[1][1:], 64)
	if err != nil {
		return err.Error()
	}
	return apart(a[2:], b[2:], share)
}

// TestAppDNNRecorded makes calls of cuDNN that an H200 answered, and compares statuses and numbers. The bounds are in the programs, and were
// fixed before the recording.
func TestAppDNNRecorded(t *testing.T) {
	for _, name := range []string{"dnn_layers", "dnn_conv", "dnn_norm", "dnn_rnn", "dnn_heads", "dnn_graph"} {
		exe := appProgram(t, name, "-w", "-l:libcudnn.so.9", "-l:libcudart.so.13", "-lm")
		got := map[string]string{}
		for line := range strings.Lines(newApp(t, "cpu", exe).run().stdout) {
			line = strings.TrimRight(line, "\n")
			got[dnnKey(line)] = line
		}
		want, wrong, listed := recordedLines(t, name), 0, 0
	lines:
		for _, line := range want {
			for _, o := range dnnOther {
				if strings.HasPrefix(line, o.prefix) {
					listed++
					continue lines
				}
			}
			if why := dnnDiffers(got[dnnKey(line)], line); why != "" {
				if wrong++; wrong <= 20 {
					t.Errorf("%s: %s\n\tgot  %s\n\twant %s", name, why, got[dnnKey(line)], line)
				}
			}
		}
		t.Logf("%s: %d of %d lines agree, %d are listed", name, len(want)-wrong-listed, len(want), listed)
	}
}
