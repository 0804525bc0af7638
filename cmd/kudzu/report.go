package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/devices"
	"kudzu/internal/driver"
	"kudzu/internal/shim/cublas/rocblas"
	"kudzu/internal/shim/cublaslt/hipblaslt"
	"kudzu/internal/shim/cudnn/miopen"
	"kudzu/internal/shim/cufft/rocfft"
	"kudzu/internal/shim/cusolver/rocsolver"
	"kudzu/internal/shim/cusparse/rocsparse"
	"kudzu/internal/shim/nccl/rccl"
)

// runReport writes everything that someone who looks into a problem asks first: what is installed, what was found, and whether
// a few kernels give the right answer on each device. Nothing of it is sent anywhere, and no name of a machine or user is in it.
func runReport(args []string, out io.Writer) error {
	if len(args) > 0 {
		return errUsage{"report takes no arguments"}
	}
	out = homeless{out}
	if err := runInfo(nil, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nsystem\n")
	for _, f := range []string{"/proc/sys/kernel/osrelease", "/opt/rocm/.info/version", "/sys/module/amdgpu/version", "/proc/driver/nvidia/version"} {
		if b, err := os.ReadFile(f); err == nil {
			fmt.Fprintf(out, "    %s: %s\n", f, strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", "; "))
		}
	}
	fmt.Fprintf(out, "    processors: %d\n", runtime.NumCPU())
	reportKFD(out)
	reportEnv(out)
	all := devices.All(devices.Config{})
	reportLibraries(out, all)
	fmt.Fprintf(out, "\nself-test\n")
	for _, b := range all {
		devs, err := b.Open()
		if err != nil {
			fmt.Fprintf(out, "    %-7s none: %v\n", b.Name(), err)
		}
		for i, d := range devs {
			if x, ok := d.(interface{ Describe() string }); ok {
				fmt.Fprintf(out, "    %-7s %d %s\n", b.Name(), i, x.Describe())
			}
			reportSensors(out, b.Name(), i, d)
			right := true
			for _, k := range selfTests {
				start := time.Now()
				verdict := "right"
				if err := k.run(d); err != nil {
					verdict = "FAILED: " + oneLine(err)
					right = false
				}
				fmt.Fprintf(out, "    %-7s %d %-10s %8.1f ms  %s\n", b.Name(), i, k.kernel, float64(time.Since(start).Microseconds())/1e3, verdict)
			}
			if right && d.Info().Abroad { // a device that has faulted has nothing more to say
				reportProduct(out, b, i)
			}
		}
	}
	return nil
}

// reportLibraries tells which libraries of AMD's stand in for those of CUDA's.
func reportLibraries(out io.Writer, all []backend.Backend) {
	fmt.Fprintf(out, "\nAMD's libraries\n")
	line := func(name, found string, err error) {
		if err != nil {
			found = "none: " + err.Error()
		}
		fmt.Fprintf(out, "    %-10s %s\n", name, found)
	}
	found, err := rocblas.New(rocblas.Config{}).Library()
	line("rocBLAS", found, err)
	found, err = hipblaslt.New(hipblaslt.Config{}).Library()
	line("hipBLASLt", found, err)
	found, err = rocsolver.New(rocsolver.Config{}).Library()
	line("rocSOLVER", found, err)
	found, err = rocfft.New(rocfft.Config{}).Library()
	line("rocFFT", found, err)
	found, err = rocsparse.New(rocsparse.Config{}).Library()
	line("rocSPARSE", found, err)
	found, err = miopen.New(miopen.Config{}).Library()
	line("MIOpen", found, err)
	found, err = rccl.New(rccl.Config{}).Library()
	line("RCCL", found, err)
	for _, b := range all {
		if f, ok := b.(interface {
			Library() string
			Functions() string
		}); ok {
			_, err := b.Open() // that there is no device is told above
			if f.Library() != "" {
				err = nil
			}
			line("HIP", f.Library()+", "+f.Functions(), err)
		}
		if m, ok := b.(interface{ Monitor() (string, error) }); ok {
			found, err = m.Monitor()
			line("ROCm SMI", found, err)
		}
	}
}

// reportSensors shows that a device's monitor answers, where it has one.
func reportSensors(out io.Writer, name string, i int, d backend.Device) {
	m, ok := d.(backend.Monitor)
	if !ok {
		return
	}
	degrees, e1 := m.Sense(backend.SensorTemperature)
	milliwatts, e2 := m.Sense(backend.SensorPower)
	if e1 != nil && e2 != nil {
		fmt.Fprintf(out, "    %-7s %d sensors: %s\n", name, i, oneLine(e1))
		return
	}
	fmt.Fprintf(out, "    %-7s %d sensors: %d degrees, %d mW\n", name, i, degrees, milliwatts)
}

// oneLine is an error on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// homeless writes text with the user's home folder as ~. A write is a line or several: no name is torn.
type homeless struct{ out io.Writer }

// Write writes.
func (h homeless) Write(b []byte) (int, error) {
	s := string(b)
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		s = strings.ReplaceAll(s, home, "~")
	}
	_, err := io.WriteString(h.out, s)
	return len(b), err
}

// reportKFD tells what the kernel's driver for AMD GPUs sees, and whether this user may use it.
func reportKFD(out io.Writer) {
	f, err := os.OpenFile("/dev/kfd", os.O_RDWR, 0)
	switch {
	case err == nil:
		_ = f.Close() // it was opened to see whether it opens
		fmt.Fprintln(out, "    /dev/kfd: usable")
	case errors.Is(err, os.ErrNotExist):
		fmt.Fprintln(out, "    /dev/kfd: not there")
	default:
		fmt.Fprintln(out, "    /dev/kfd: not usable by this user (group render?)")
	}
	nodes, _ := filepath.Glob("/sys/class/kfd/kfd/topology/nodes/*/properties") // the pattern is good
	for _, n := range nodes {
		b, err := os.ReadFile(n)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(b), "\n") {
			key, val, _ := strings.Cut(line, " ")
			if key == "gfx_target_version" && val != "0" {
				fmt.Fprintf(out, "    %s: gfx_target_version %s\n", filepath.Base(filepath.Dir(n)), val)
			}
		}
	}
}

// reportEnv prints the variables that change what we do.
func reportEnv(out io.Writer) {
	var list []string
	for _, e := range os.Environ() {
		for _, p := range []string{"KUDZU_", "HSA_", "ROCR_", "HIP_", "GPU_", "AMD_", "CUDA_", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT"} {
			if strings.HasPrefix(e, p) {
				list = append(list, e)
				break
			}
		}
	}
	sort.Strings(list)
	for _, e := range list {
		fmt.Fprintf(out, "    %s\n", e)
	}
}

// selfTest is a kernel over 4 blocks of 128 threads, and what its thread i must write.
type selfTest struct {
	kernel string
	body   string
	want   func(i uint32) uint32
}

const (
	testBlocks, testThreads = 4, 128
	testHead                = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 total;\n.visible .entry "
	testBegin               = `(.param .u64 out)
{
	.shared .align 4 .b8 room[512];
	.reg .pred %p<4>;
	.reg .f32 %f<4>;
	.reg .b32 %r<10>;
	.reg .b64 %rd<4>;
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r3, %r1, %r2, %r0;
	ld.param.u64 %rd0, [out];
	mul.wide.u32 %rd1, %r3, 4;
	add.u64 %rd0, %rd0, %rd1;
`
	testEnd = "\tst.global.u32 [%rd0], %r9;\n\tret;\n}\n"
)

var selfTests = []selfTest{
	{"indices", "\tmov.u32 %r9, %r3;\n", func(i uint32) uint32 { return i }},
	{"floats", "\tcvt.rn.f32.u32 %f0, %r3;\n\tfma.rn.f32 %f1, %f0, 0f3F000000, 0f40400000;\n\tmov.b32 %r9, %f1;\n", func(i uint32) uint32 { return math.Float32bits(float32(i)*0.5 + 3) }},
	{"shared", `	mov.u32 %r4, room;
	shl.b32 %r5, %r0, 2;
	add.u32 %r5, %r4, %r5;
	st.shared.u32 [%r5], %r3;
	bar.sync 0;
	sub.u32 %r6, 127, %r0;
	shl.b32 %r6, %r6, 2;
	add.u32 %r6, %r4, %r6;
	ld.shared.u32 %r9, [%r6];
`, func(i uint32) uint32 { return i/testThreads*testThreads + testThreads - 1 - i%testThreads }},
	{"shuffle", "\tshfl.sync.bfly.b32 %r9, %r3, 5, 31, -1;\n", func(i uint32) uint32 { return i ^ 5 }},
	{"vote", "\tand.b32 %r4, %r0, 3;\n\tsetp.eq.u32 %p0, %r4, 1;\n\tvote.sync.ballot.b32 %r9, %p0, -1;\n", func(uint32) uint32 { return 0x22222222 }},
	{"atomics", `	atom.global.add.u32 %r4, [total], 1;
	bar.sync 0;
	setp.lt.u32 %p0, %r4, 512;
	selp.u32 %r9, 1, 0, %p0;
`, func(uint32) uint32 { return 1 }},
}

// run launches the kernel and compares.
func (k *selfTest) run(d backend.Device) (err error) {
	m, err := driver.Describe("self-test", testHead+k.kernel+testBegin+k.body+testEnd, 10*d.Info().Major+d.Info().Minor)
	if err != nil {
		return err
	}
	p, err := d.Load(m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Unload()) }()
	kn, err := p.Kernel(k.kernel)
	if err != nil {
		return err
	}
	q, err := d.NewQueue(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	const n = testBlocks * testThreads
	a, err := d.Memory().Alloc(4*n, 256)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Memory().Free(a)) }()
	l := &backend.Launch{Grid: [3]uint32{testBlocks, 1, 1}, Block: [3]uint32{testThreads, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, uint64(a))}
	if err := q.Launch(kn, l); err != nil {
		return err
	}
	got, err := fetch(q, a, 4*n)
	if err != nil {
		return err
	}
	for i := range uint32(n) {
		if w := binary.LittleEndian.Uint32(got[4*i:]); w != k.want(i) {
			return fmt.Errorf("thread %d wrote %#x, not %#x", i, w, k.want(i))
		}
	}
	return nil
}
