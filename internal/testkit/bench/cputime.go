package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// programTime is the processor time that the processes of a program have used, the living ones: what a compilation cost, whoever
// else uses the machine. The compiler process is no child of ours, so it is found by its file.
func programTime(file string) time.Duration {
	var sum time.Duration
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is right
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == file {
			sum += threadTime(filepath.Dir(l))
		}
	}
	return sum
}

// threadTime is what a process's threads have run.
func threadTime(proc string) time.Duration {
	var sum time.Duration
	files, _ := filepath.Glob(fmt.Sprintf("%s/task/*/schedstat", proc))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			sum += time.Duration(n)
		}
	}
	return sum
}
