package main

import "kudzu/internal/ptx/isa"

// writeVersion tells c/base which CUDA version the driver presents.
func writeVersion(w *world) error {
	var o out
	o.header("//", "internal/ptx/isa/release.go")
	o.f("#define KZ_NEWEST_VERSION %d\n", isa.Newest().CUDA)
	w.files["c/base/zversion.h"] = o.Bytes()
	return nil
}
