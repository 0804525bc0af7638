package testkit

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kudzu/internal/codeobject"
)

// amdTargets are the processors of emit/simt.
var amdTargets = []string{"gfx1010", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201", "gfx906", "gfx908", "gfx90a", "gfx942"}

// checkMetadata holds what the metadata says of a kernel against its descriptor.
func checkMetadata(t *testing.T, k *codeobject.Kernel) {
	t.Helper()
	d := &k.Descriptor
	wave := 64
	if d.Properties&codeobject.PropWave32 != 0 {
		wave = 32
	}
	if k.Symbol != k.Name+".kd" || k.KernargSize != int(d.Kernarg) || k.GroupFixed != int(d.GroupSegment) || k.PrivateFixed != int(d.PrivateSegment) || k.Wave != wave {
		t.Errorf("kernel %s: metadata %+v, descriptor %+v", k.Name, *k, *d)
	}
	if k.Explicit() > k.KernargSize {
		t.Errorf("kernel %s: %d bytes of parameters in %d of arguments", k.Name, k.Explicit(), k.KernargSize)
	}
}

// halves are what waves of 64 lanes must do so that the warps of 32 in them stay apart, case by case.
var halves = map[string][]*regexp.Regexp{
	"warp.shfl": {regexp.MustCompile(`v_mbcnt_hi_u32_b32`), regexp.MustCompile(`v_and_b32_e32 v\d+, 32, v`), regexp.MustCompile(`v_and_or_b32 v\d+, v\d+, 31, v`), regexp.MustCompile(`ds_bpermute_b32`)},
	"warp.vote": {regexp.MustCompile(`v_mbcnt_hi_u32_b32`), regexp.MustCompile(`v_lshrrev_b64 v\[\d+:\d+\], v\d+, (vcc|s\[)`)},
}

// disassemble has LLVM read every object of the folder: each kernel must be code to its end. Of waves of 64 it looks for the instructions
// that keep their halves apart: no emulator runs them.
func disassemble(t *testing.T, dir string) {
	t.Helper()
	objdump := ""
	for _, p := range []string{"llvm-objdump-19", "llvm-objdump-20", "llvm-objdump-21", "/usr/lib/llvm-19/bin/llvm-objdump"} {
		if path, err := exec.LookPath(p); err == nil {
			objdump = path
			break
		}
	}
	if objdump == "" {
		t.Log("not disassembled: no llvm-objdump of LLVM 19")
		return
	}
	for _, target := range amdTargets { // llvm-objdump takes the first file's processor for all
		if files, err := filepath.Glob(filepath.Join(dir, "*@"+target)); err == nil && len(files) > 0 {
			disassembleFor(t, objdump, target, files)
		}
	}
}

func disassembleFor(t *testing.T, objdump, target string, files []string) {
	t.Helper()
	out, err := exec.Command(objdump, append([]string{"-d", "--no-show-raw-insn"}, files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := 0
	for _, part := range strings.Split(string(out), "file format elf64-amdgpu")[1:] {
		name := filepath.Base(files[seen])
		seen++
		if !strings.Contains(part, "s_endpgm") {
			t.Errorf("%s: no kernel ends", name)
		}
		if at := strings.Index(part, "<unknown>"); at >= 0 {
			t.Errorf("%s: not an instruction: %s", name, part[max(at-200, 0):at])
		}
		kase, _, _ := strings.Cut(name, "@")
		if strings.HasPrefix(target, "gfx9") {
			for _, re := range halves[kase] {
				if !re.MatchString(part) {
					t.Errorf("%s: %s is not there", name, re)
				}
			}
		} else if strings.Contains(part, "v_mbcnt_hi") {
			t.Errorf("%s: v_mbcnt_hi where a warp is a wave", name)
		}
	}
	if seen != len(files) {
		t.Errorf("%d of %d files disassembled", seen, len(files))
	}
}
