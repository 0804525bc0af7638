package main

import (
	"os"
	"path/filepath"

	"kudzu/internal/config"
)

// injection is the variable in which NVTX 3, which is headers only, looks for a tool.
const injection = "NVTX_INJECTION64_PATH"

// withNVTX has a program that is traced tell the trace of its NVTX ranges. A tool that the environment names stays.
func withNVTX(env []string, libs string) []string {
	set := func(name string) bool {
		v, _ := lookEnv(env, name)
		return v != ""
	}
	tool := filepath.Join(libs, "libkudzu-nvtx.so")
	if _, err := os.Stat(tool); err != nil || !set(config.Trace) || set(injection) {
		return env
	}
	return setEnv(env, injection, tool)
}
