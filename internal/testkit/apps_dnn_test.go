package testkit

import "testing"

// TestAppDNN: both releases of cuDNN by the names of their files, with the codes and versions of each.
func TestAppDNN(t *testing.T) {
	exe := appProgram(t, "app_dnn")
	for _, c := range []struct{ release, set, want string }{
		{"8", "", "version 8907\nconvolution 5421 6532 8754 9865\na result of another shape 3 CUDNN_STATUS_BAD_PARAM\nsizes agree\nalgorithm 2\n"},
		{"8", "8.9.2", "version 8902\nconvolution 5421 6532 8754 9865\na result of another shape 3 CUDNN_STATUS_BAD_PARAM\nsizes agree\nalgorithm 2\n"},
		{"9", "", "version 92700\nconvolution 5421 6532 8754 9865\na result of another shape 2000 CUDNN_STATUS_BAD_PARAM\nsizes agree\n" +
			"last error: bad parameter: 0x0 is no handle\n"},
		{"9", "9.10.2", "version 91002\nconvolution 5421 6532 8754 9865\na result of another shape 2000 CUDNN_STATUS_BAD_PARAM\nsizes agree\n" +
			"last error: bad parameter: 0x0 is no handle\n"},
	} {
		a := newApp(t, "cpu", exe, c.release)
		if c.set != "" {
			a.set("KUDZU_CUDNN_VERSION", c.set)
		}
		a.run().want(t, c.want)
	}
}
