package main

import "testing"

// TestFilesWays: who gets a mount namespace with the files of a GPU.
func TestFilesWays(t *testing.T) {
	for _, r := range []struct {
		how             string
		root, preloaded bool
		want            bool
	}{
		{"", true, true, true}, {"", true, false, true}, {"", false, false, true}, {"", false, true, false},
		{filesAuto, true, true, true}, {filesAuto, false, false, true}, {filesAuto, false, true, false},
		{filesNamespace, false, true, true}, {filesNamespace, true, true, true},
		{filesNone, true, false, false}, {filesNone, false, false, false},
	} {
		if got := inNamespace(r.how, r.root, r.preloaded); got != r.want {
			t.Errorf("%+v: %v", r, got)
		}
	}
}
