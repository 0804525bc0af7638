package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"kudzu/internal/config"
)

// baseName is the library that every front needs beside it.
const baseName = "libkudzu-base.so"

// forwarded are the libraries that can stand in front of NVIDIA's own. The others are left alone: NVIDIA's libraries call each
// other by names that are not public (cuBLAS cublasLt's, the parts of cuDNN, CUPTI the driver's).
var forwarded = []string{"libcuda.so", "libcudart.so", "libcublas.so", "libcufft.so", "libcurand.so", "libcusolver.so", "libcusparse.so", "libnccl.so",
	"libnvidia-ml.so", "libnvrtc.so", "libnvJitLink.so"}

// realEnv puts the fronts of these libraries, and nothing else of ours, before NVIDIA's.
func (t *traceWith) realEnv(env []string) ([]string, error) {
	lib, err := libraryDir()
	if err != nil {
		return nil, err
	}
	fronts, err := frontLinks(filepath.Join(t.dir, "fronts"), lib)
	if err != nil {
		return nil, err
	}
	if t.realDirs == "" {
		t.realDirs = strings.Join(realDirs(env, lib), ":")
	}
	for _, dir := range strings.Split(t.realDirs, ":") {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("--real: %q is no folder with NVIDIA's libraries", dir)
		}
	}
	env = setEnv(env, config.TraceReal, t.realDirs)
	return frontOf(env, "LD_LIBRARY_PATH", fronts), nil
}

// frontLinks makes a folder with links to the fronts that are forwarded. Links, because a library looks for the base where it
// was found itself.
func frontLinks(dir, lib string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(lib)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		stem, version, _ := strings.Cut(e.Name(), ".so")
		if e.Name() != baseName && (version == "" || !slices.Contains(forwarded, stem+".so")) {
			continue
		}
		err := os.Symlink(filepath.Join(lib, e.Name()), filepath.Join(dir, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return dir, nil
}

// realDirs are the folders in which NVIDIA's libraries are looked for when the user names none: those that the program would
// look in itself, and where they are installed.
func realDirs(env []string, ours string) []string {
	var dirs []string
	for _, e := range env {
		if list, ok := strings.CutPrefix(e, "LD_LIBRARY_PATH="); ok {
			dirs = append(dirs, strings.Split(list, ":")...)
		}
	}
	machine := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	dirs = append(dirs, "/usr/local/cuda/lib64", filepath.Join("/usr/lib", machine), "/usr/lib64", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib")
	return slices.DeleteFunc(dirs, func(d string) bool {
		st, err := os.Stat(d)
		return d == "" || d == ours || err != nil || !st.IsDir()
	})
}
