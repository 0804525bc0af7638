package worker

import (
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"kudzu/internal/compile"
)

// host is a program that minds its children: it counts SIGCHLD and reaps whatever waitpid(-1) gives, while a kernel is
// compiled, twice, with the compiler killed in between.
func host() int {
	var report hostReport
	defer func() { _ = json.NewEncoder(os.Stdout).Encode(report) }()
	sig := make(chan os.Signal, 100)
	signal.Notify(sig, syscall.SIGCHLD)
	var reaped atomic.Int32
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid > 0 {
				reaped.Add(1)
			}
			time.Sleep(50 * time.Microsecond)
		}
	}()
	// A file without close-on-exec, as C programs have them.
	leak, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	if err != nil {
		report.Err = err.Error()
		return 0
	}
	started := regexp.MustCompile(`compiler process (\d+)`)
	exe, err := os.Executable()
	if err != nil {
		report.Err = err.Error()
		return 0
	}
	c := compile.New(compile.Config{Command: []string{exe, "compiler"}, Log: func(s string) {
		if m := started.FindStringSubmatch(s); m != nil {
			report.Compiler, _ = strconv.Atoi(m[1])
		}
	}})
	for range 2 {
		if _, err := c.Compile(request("k")); err != nil {
			report.Err = err.Error()
		}
		report.Fds += leaked(report.Compiler)
		report.Env += forbidden(report.Compiler)
		report.Children += children()
		_ = syscall.Kill(report.Compiler, syscall.SIGKILL)
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := c.Compile(request("k")); err != nil {
		report.Err = err.Error()
	}
	close(stop)
	report.Signals, report.Reaped = len(sig), int(reaped.Load())
	_ = syscall.Close(leak)
	return 0
}

// leaked counts files of the compiler beyond what it should have: standard ones, the runtime's, its workers' pipes. While it starts
// a worker it has one more.
func leaked(pid int) int {
	n := open(pid)
	for range 100 {
		if n == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
		n = open(pid)
	}
	return n
}

func open(pid int) int {
	files, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	if err != nil || len(files) == 0 {
		return 1000
	}
	n := 0
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && to == os.DevNull && filepath.Base(f) != "2" {
			n++
		}
	}
	return n
}

// forbidden lists variables of the compiler that should have been dropped.
func forbidden(pid int) string {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return err.Error()
	}
	var bad []string
	for _, kv := range strings.Split(string(env), "\x00") {
		if strings.HasPrefix(kv, "LD_") || strings.HasPrefix(kv, "GO") {
			bad = append(bad, kv)
		}
	}
	return strings.Join(bad, " ")
}

// children is what the kernel says our children are.
func children() string {
	var all string
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, l := range lists {
		b, _ := os.ReadFile(l) // a thread may be gone
		all += string(b)
	}
	return all
}
