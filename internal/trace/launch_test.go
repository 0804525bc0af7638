package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiffOfObjects has what an H200 and Kudzu give other numbers: a texture, which a kernel gets as a parameter, and a tensor map, which
// holds an address.
func TestDiffOfObjects(t *testing.T) {
	save := func(base, object, wrong uint64) *Trace {
		w := NewWriter(100, 1, false, "./app")
		a := w.Thread(100)
		now := int64(0)
		call := func(name string, words []uint64, blobs ...Blob) {
			now += 1000
			a.Call(Call{Library: "libcuda.so.1", Name: name, Begin: now, End: now + 10, Words: words, Blobs: blobs})
		}
		call("cuMemAlloc_v2", []uint64{1, 4096}, out(0, base, 8))
		call("cuTexObjectCreate", []uint64{1, 2, 3, 0}, out(0, object, 8))
		encoded := Blob{Arg: 0, What: Out, Filled: true, Data: make([]byte, 128)}
		copy(encoded.Data, u64(base+256))
		copy(encoded.Data[8:], u64(7+wrong))
		call("cuTensorMapEncodeTiled", []uint64{1, 7, 2, base, 0, 0, 0, 0, 0, 0, 0, 0}, encoded)
		call("cuTexObjectDestroy", []uint64{object})
		tr, err := Open(save(t, w))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tr.Close)
		return tr
	}
	for wrong, want := range []int{0, 1} {
		found, calls, err := Diff(save(0x7f0000001000, 1, 0), save(0x700000800000, 0x100001, uint64(wrong)), DiffOptions{})
		if err != nil || len(found) != want || calls < 3 {
			t.Errorf("%d calls, %d differences, want %d: %+v, %v", calls, len(found), want, found, err)
		}
	}
}

// TestLaunchOnHardware has launches as NVIDIA's runtime makes them on an H200: the driver's handle comes from no call that is recorded, and
// parameters lie as in constant memory, where a tensor map is at 48.
func TestLaunchOnHardware(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry tensors(.param .align 64 .b8 map[128], .param .u64 out) { ret; }
`
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ModulesDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ModulesDir, vecaddHash+".ptx"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := NewWriter(100, 1, true, "./app")
	a := w.Thread(100)
	const cu, rt = "libcuda.so.1", "libcudart.so.13"
	id := a.Call(Call{Library: rt, Name: "__cudaRegisterFatBinary", Begin: 10, End: 20, Result: 0x9000, Words: []uint64{0x400000}})
	a.Module(Module{Call: id, Bytes: uint64(len(text)), Hash: vecaddHash, Ext: "ptx"})
	a.Call(Call{Library: rt, Name: "__cudaRegisterFunction", Begin: 30, End: 40, Words: []uint64{0x9000, 0x401000, 0x402000, 0x402000, 0, 0, 0, 0, 0, 0}, Blobs: []Blob{str(3, "tensors")}})
	params := make([]byte, 184) // 48 + 128 + 8
	copy(params[48:], u64(0x7f0000001000))
	copy(params[176:], u64(0x7f0000002000))
	shape := []uint64{1 | 1<<32, 1, 64 | 1<<32, 1}
	a.Call(Call{Library: rt, Name: "cudaLaunchKernel", Begin: 50, End: 90, Words: append(append([]uint64{0x401000}, shape...), 0x7ffe30, 0, 0)})
	a.Call(Call{Library: cu, Name: "cuLaunchKernel", Begin: 60, End: 80, Depth: 1, Words: []uint64{0x7700, 1, 1, 1, 64, 1, 1, 0, 0, 0x7ffe20, 0}, Blobs: []Blob{{Arg: 9, What: Params, Data: params}}})
	a.Call(Call{Library: cu, Name: "cuLaunchKernel", Begin: 100, End: 110, Depth: 1, Words: []uint64{0x7800, 1, 1, 1, 64, 1, 1, 0, 0, 0x7ffe20, 0}})
	if err := w.Save(dir); err != nil {
		t.Fatal(err)
	}
	tr, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	d := NewDecoder(dir)
	var all []Launch
	if err := tr.Each(func(r *Record) bool {
		if r.Call != nil {
			d.Decode(r.Call)
			if r.Call.Launch != nil {
				all = append(all, *r.Call.Launch)
			}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[0].Kernel != "tensors" || all[1].Kernel != "tensors" || all[2].Kernel == "tensors" {
		t.Fatalf("launches of %+v", all)
	}
	p := all[1].Params
	if len(p) != 2 || len(p[0].Value.Bytes) != 128 || le.Uint64(p[0].Value.Bytes) != 0x7f0000001000 || p[1].Value.Bits != 0x7f0000002000 {
		t.Errorf("parameters are %+v", p)
	}
}

// TestDiffNames: kernels that differ in a parameter's type only are different ones, and are shown as C++ names them.
func TestDiffNames(t *testing.T) {
	save := func(kernel string) *Trace {
		w := NewWriter(100, 1, false, "./app")
		a := w.Thread(100)
		a.Call(Call{Library: "libcudart.so.12", Name: "__cudaRegisterFunction", Begin: 10, End: 20, Words: []uint64{0x9000, 0x401000, 0x402000, 0x402000, ^uint64(0), 0, 0, 0, 0, 0}, Blobs: []Blob{str(3, kernel)}})
		a.Call(Call{Library: "libcudart.so.12", Name: "cudaLaunchKernel", Begin: 30, End: 40, Words: []uint64{0x401000, 1<<32 | 1, 1, 1<<32 | 32, 1, 0, 0, 0}})
		tr, err := Open(save(t, w))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tr.Close)
		return tr
	}
	for mangled, want := range map[bool][2]string{false: {"scal(float*, float)", "scal(float*, double)"}, true: {"_Z4scalPff", "_Z4scalPfd"}} {
		ignore := func(name string) bool { return name == "__cudaRegisterFunction" }
		found, _, err := Diff(save("_Z4scalPff"), save("_Z4scalPfd"), DiffOptions{Mangled: mangled, Ignore: ignore})
		if err != nil || len(found) != 1 || len(found[0].LeftA) == 0 || len(found[0].LeftB) == 0 {
			t.Fatalf("%+v, %v", found, err)
		}
		if !strings.HasPrefix(found[0].LeftA[0], "cudaLaunchKernel("+want[0]+", ") || !strings.HasPrefix(found[0].LeftB[0], "cudaLaunchKernel("+want[1]+", ") {
			t.Errorf("%q and %q", found[0].LeftA, found[0].LeftB)
		}
	}
}
