package main

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kudzu/internal/config"
	"kudzu/internal/libdevice"
)

// xlaData is XLA's flag for the folder with CUDA's libdevice.
const xlaData = "--xla_gpu_cuda_data_dir"

// xlaSettings have XLA take our libraries at once. It compiles several Triton kernels for each product and runs them beside cuBLAS's
// (minutes, in each process), to choose what is fastest on a GPU; on a processor that is our cuBLAS. A plan of cuDNN has one engine.
var xlaSettings = [][2]string{{"--xla_gpu_enable_triton_gemm", "false"}, {"--xla_gpu_autotune_level", "0"}}

// withXLA sets XLA's flags for a program. XLA finds our libdevice: TensorFlow, whose wheel has none, asks neither CUDA_HOME nor
// CUDA_PATH. A Python program's XLA takes our libraries for what they can do, where kernels run on processors. Flags that are set stay,
// and so do flags in a file.
func withXLA(env []string, ours, program string) []string {
	flags, _ := lookEnv(env, "XLA_FLAGS")
	was := strings.Fields(flags)
	if len(was) > 0 && !strings.HasPrefix(was[0], "-") {
		return env
	}
	add := func(flag, val string) {
		if !slices.ContainsFunc(was, func(f string) bool { return f == flag || strings.HasPrefix(f, flag+"=") }) {
			was = append(was, flag+"="+val)
		}
	}
	n := len(was)
	if _, err := os.Stat(filepath.Join(ours, libdevice.File)); err == nil && !strings.ContainsAny(ours, " \t") {
		add(xlaData, ours)
	}
	if onProcessors(env) && xlaKnows(xlaLibraries(pythonSites(env, pythonOf(program)))) {
		for _, s := range xlaSettings {
			add(s[0], s[1])
		}
	}
	if len(was) == n {
		return env
	}
	return setEnv(env, "XLA_FLAGS", strings.Join(was, " "))
}

// onProcessors reports a program whose kernels run on the machine's processors.
func onProcessors(env []string) bool {
	b, _ := lookEnv(env, config.Backend)
	return b == "" || b == "cpu" || b == "interp"
}

// pythonOf is the interpreter that a program is, or that runs it as a script; empty if it is another program.
func pythonOf(program string) string {
	for range 4 {
		words := scriptWords(program)
		if base := filepath.Base(program); words == nil && (strings.HasPrefix(base, "python") || strings.HasPrefix(base, "pypy")) {
			return program
		}
		if len(words) > 0 && filepath.Base(words[0]) == "env" {
			words = words[1:]
			for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
				words = words[1:]
			}
		}
		if len(words) == 0 {
			return ""
		}
		next, err := exec.LookPath(words[0])
		if err != nil {
			return ""
		}
		program = next
	}
	return ""
}

// pythonSites are the folders where packages of an interpreter may be. Python itself is not asked: its start takes longer than that of
// many programs.
func pythonSites(env []string, python string) []string {
	if python == "" {
		return nil
	}
	prefixes := []string{filepath.Dir(filepath.Dir(python))} // of a virtual environment
	if real, err := filepath.EvalSymlinks(python); err == nil {
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(real)))
	}
	if home, _ := lookEnv(env, "HOME"); home != "" {
		prefixes = append(prefixes, filepath.Join(home, ".local"))
	}
	if base, _ := lookEnv(env, "PYTHONUSERBASE"); base != "" {
		prefixes = append(prefixes, base)
	}
	var sites []string
	if list, _ := lookEnv(env, "PYTHONPATH"); list != "" {
		sites = filepath.SplitList(list)
	}
	for _, p := range prefixes {
		for _, lib := range []string{"lib", "lib64", "local/lib"} {
			for _, site := range []string{"python*/site-packages", "python*/dist-packages", "pypy*/site-packages"} {
				found, err := filepath.Glob(filepath.Join(p, lib, site))
				if err == nil { // a prefix with brackets is none
					sites = append(sites, found...)
				}
			}
		}
	}
	slices.Sort(sites)
	return slices.Compact(sites)
}

// xlaLibraries are the libraries that have XLA in JAX and TensorFlow.
func xlaLibraries(sites []string) []string {
	var libs []string
	for _, site := range sites {
		for _, p := range []string{
			"jaxlib/*.so", "jax_plugins/xla_cuda*/xla_cuda_plugin.so",
			"tensorflow/libtensorflow_cc.so.2", "tensorflow/libtensorflow_framework.so.2", "tensorflow/python/_pywrap_tensorflow_internal.so",
		} {
			found, err := filepath.Glob(filepath.Join(site, p))
			if err == nil {
				libs = append(libs, found...)
			}
		}
	}
	return libs
}

// xlaKnows reports libraries of which one has XLA, and all that have it know the flags of xlaSettings: XLA ends a process for a flag
// that it does not know.
func xlaKnows(libs []string) bool {
	names := [][]byte{flagName(xlaData)}
	for _, s := range xlaSettings {
		names = append(names, flagName(s[0]))
	}
	some := false
	for _, lib := range libs {
		has, err := holds(lib, names)
		if err != nil || has[0] && slices.Contains(has, false) {
			return false
		}
		some = some || has[0]
	}
	return some
}

// flagName is a flag as XLA's table of flags has it. Linkers merge texts that end alike, so what is before it may be another's.
func flagName(flag string) []byte { return []byte(strings.TrimPrefix(flag, "--") + "\x00") }

// holds tells which texts are among the constants of a library.
func holds(path string, texts [][]byte) ([]bool, error) {
	data, err := readCode(path)
	if err != nil {
		return nil, err
	}
	defer data.close()
	f, err := elf.NewFile(bytes.NewReader(data.bytes))
	if err != nil {
		return nil, err
	}
	has := make([]bool, len(texts))
	for _, s := range f.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR|elf.SHF_WRITE) != elf.SHF_ALLOC {
			continue
		}
		size := uint64(len(data.bytes))
		if s.Offset > size || s.FileSize > size-s.Offset {
			return nil, io.ErrUnexpectedEOF
		}
		for i, t := range texts {
			has[i] = has[i] || bytes.Contains(data.bytes[s.Offset:s.Offset+s.FileSize], t)
		}
	}
	return has, nil
}
