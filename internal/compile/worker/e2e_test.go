package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/image"
	"kudzu/internal/llvm"

	"github.com/ebitengine/purego"
)

func pipeline(t testing.TB) *Pipeline {
	t.Helper()
	p, err := New("")
	if err != nil {
		var nf *llvm.NotFound
		if errors.As(err, &nf) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	return p
}

// TestPTX compiles PTX to an image and runs it, specialised to a block shape and for any, at every level.
func TestPTX(t *testing.T) {
	const n, threads = 1000, 256
	p := pipeline(t)
	for _, block := range [][3]uint32{{threads, 1, 1}, {}} {
		for level := range levels {
			r, err := p.Run(&compile.Request{PTX: saxpyPTX(t), Kernel: "saxpy", Block: block, Options: compile.Options{Level: level}})
			if err != nil {
				t.Fatalf("block %v, level %d: %v", block, level, err)
			}
			im, err := image.Parse(r.Image)
			if err != nil {
				t.Fatal(err)
			}
			if len(im.Meta.Lines) == 0 || im.Meta.Kernel != "saxpy" {
				t.Errorf("block %v, level %d: %+v", block, level, im.Meta)
			}
			m, err := im.Map()
			if err != nil {
				t.Fatal(err)
			}
			runSaxpy(t, m, im, n, threads)
			if err := m.Unmap(); err != nil {
				t.Error(err)
			}
		}
	}
}

const factsPTX = `.version 8.0
.target sm_80
.address_size 64
.global .u32 seen;
.visible .entry k(.param .u64 p) {
	.local .align 4 .b8 mine[20];
	.shared .align 8 .b8 ours[72];
	.reg .u32 %r<3>;
	.reg .u64 %d<3>;
	ld.global.u32 %r1, [seen];
	st.shared.u32 [ours+8], %r1;
	mov.u64 %d1, mine;
	st.local.u32 [%d1+4], %r1;
	ld.local.u32 %r2, [%d1+4];
	ld.param.u64 %d2, [p];
	st.global.u32 [%d2], %r2;
	ret;
}
`

// TestFacts: what is told about a kernel without compiling it is what its image says.
func TestFacts(t *testing.T) {
	p := pipeline(t)
	told, err := p.Run(&compile.Request{PTX: factsPTX, Kernel: "k", FactsOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(&compile.Request{PTX: factsPTX, Kernel: "k", Block: [3]uint32{32, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	im, err := image.Parse(r.Image)
	if err != nil {
		t.Fatal(err)
	}
	m := &im.Meta
	want, err := compile.EncodeFacts(&compile.Facts{SharedStatic: m.SharedStatic, LocalThread: m.LocalThread, Registers: m.Registers, PTXVersion: m.PTXVersion, Vars: m.Vars})
	if err != nil || string(told.Image) != string(want) || m.SharedStatic != 72 || m.LocalThread != 32 || len(m.Vars) != 1 {
		t.Errorf("told %s, compiled %s, %v", told.Image, want, err)
	}
	var bad *compile.PTXError
	if _, err := p.Run(&compile.Request{PTX: factsPTX, Kernel: "other", FactsOnly: true}); !errors.As(err, &bad) {
		t.Errorf("no such kernel: %v", err)
	}
}

func runSaxpy(t *testing.T, m *image.Mapping, im *image.Image, n, threads int) {
	t.Helper()
	x, y := make([]float32, n+24), make([]float32, n+24)
	for i := range x {
		x[i], y[i] = float32(i), 1
	}
	params := make([]byte, 24)
	binary.LittleEndian.PutUint32(params, uint32(n))
	binary.LittleEndian.PutUint32(params[4:], 0x40000000) // 2.0
	binary.LittleEndian.PutUint64(params[8:], uint64(address(x)))
	binary.LittleEndian.PutUint64(params[16:], uint64(address(y)))
	blocks := (n + threads - 1) / threads
	launch, worker := make([]byte, image.LaunchSize), make([]byte, image.WorkerSize)
	frame := make([]byte, int(im.Meta.FrameWarp)*threads/32+int(im.Meta.FrameBlock)+64)
	le := binary.LittleEndian
	le.PutUint64(launch[image.LaunchParams:], uint64(address(params)))
	for i, v := range []int{blocks, 1, 1, threads, 1, 1} {
		le.PutUint32(launch[image.LaunchGrid+4*i:], uint32(v))
	}
	le.PutUint32(launch[image.LaunchWarps:], uint32(threads/32))
	le.PutUint32(launch[image.LaunchThreads:], uint32(threads))
	le.PutUint64(worker[image.WorkerFrame:], uint64((address(frame)+63)&^63))
	r, _, _ := purego.SyscallN(m.Entry(), address(launch), address(worker), 0, uintptr(blocks))
	runtime.KeepAlive([]any{params, frame})
	if r != image.StopNone {
		t.Errorf("returned %d", r)
	}
	for i := range y {
		want := 2*float32(i) + 1
		if i >= n {
			want = 1
		}
		if y[i] != want {
			t.Fatalf("y[%d] = %v, want %v", i, y[i], want)
		}
	}
}

// BenchmarkLevels is the whole pipeline, PTX to image, without processes.
func BenchmarkLevels(b *testing.B) {
	p := pipeline(b)
	for level := range levels {
		b.Run(fmt.Sprint(level), func(b *testing.B) {
			req := &compile.Request{PTX: saxpyPTX(b), Kernel: "saxpy", Block: [3]uint32{256, 1, 1}, Options: compile.Options{Level: level}}
			for b.Loop() {
				if _, err := p.Run(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
