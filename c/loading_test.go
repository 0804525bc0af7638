package c

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// preloads are the libraries the lighter way LD_PRELOAD names, as kudzu run does.
func preloads(t *testing.T, libs string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(libs, "lib*.so.*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%v %v", files, err)
	}
	return strings.Join(files, ":")
}

// TestLoadingWays is the table of docs/loading.md: each way a program can ask for a library, and who answers under each way
// of putting ours in its place.
func TestLoadingWays(t *testing.T) {
	libs := dist(t)
	dir := t.TempDir()
	apps := filepath.Join(root(t), "testdata/apps")
	fake := filepath.Join(dir, "libcuda.so.1")
	cc(t, "-shared", "-fPIC", filepath.Join(apps, "load_fake.c"), "-Wl,-soname,libcuda.so.1", "-o", fake)
	cc(t, "-shared", "-fPIC", "-Down=own_one", filepath.Join(apps, "load_fake.c"), "-Wl,-soname,libown.so.12", "-o", filepath.Join(dir, "libown.so.12"))
	// What a driver's package and a toolkit leave behind: the file named by its version, and the plain name.
	for name, to := range map[string]string{
		"libcuda.so.550.54.15": "libcuda.so.1", "libcudart.so.12.4.127": "libcuda.so.1", "libcudart.so.12": "libcudart.so.12.4.127",
		"libcudart.so": "libcudart.so.12", "libcudartx.so.12": "libcuda.so.1", "mylibcuda.so.1": "libcuda.so.1", "libcudart.so.99": "libcuda.so.1",
		"libtorch_cuda.so.2.6": "libcuda.so.1", "libtorch_cuda_linalg.so.2.6": "libcuda.so.1",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	linked := func(name, kind string) string {
		exe := filepath.Join(dir, name)
		cc(t, filepath.Join(apps, "load_linked.c"), "-o", exe, "-L"+dir, "-l:libcuda.so.1", "-l:libown.so.12", "-Wl,"+kind+",-rpath,"+dir)
		return exe
	}
	rpath, runpath, open := linked("rpath", "--disable-new-dtags"), linked("runpath", "--enable-new-dtags"), compile(t, "load_open", "-ldl")
	at := func(names ...string) []string {
		for i, n := range names {
			names[i] = filepath.Join(dir, n)
		}
		return names
	}
	// What kudzu run chooses by itself must reach what the auditor reaches, wherever the loader is new enough.
	kudzu := command(t, libs)
	chosen := map[bool]string{true: "audit", false: "path"}[newLoader(t)]
	ways := []struct{ name, col, env, front string }{
		{"audit", "audit", "LD_AUDIT=" + filepath.Join(libs, "libkudzu-audit.so"), ""},
		{"preload", "preload", "LD_PRELOAD=" + preloads(t, libs), ""},
		{"path", "path", "LD_LIBRARY_PATH=" + libs, ""},
		{"run", chosen, "", kudzu},
	}
	rows := []struct {
		what                 string
		argv                 []string
		audit, preload, path string
	}{
		{"RPATH", []string{rpath}, "ours 7", "ours 7", "fake 7"},
		{"RUNPATH", []string{runpath}, "ours 7", "ours 7", "ours 7"},
		{"name", []string{open, "libcuda.so.1", "libcudart.so.12"}, "libcuda.so.1 libcudart.so.12", "libcuda.so.1 libcudart.so.12", "libcuda.so.1 libcudart.so.12"},
		{"absolute path", append([]string{open}, at("libcuda.so.1")...), "libcuda.so.1", "fake", "fake"},
		{"version in the name", append([]string{open}, at("libcuda.so.550.54.15")...), "libcuda.so.1", "fake", "fake"},
		{"a toolkit's names", append([]string{open}, at("libcudart.so.12", "libcudart.so.12.4.127", "libcudart.so")...), "libcudart.so.12 libcudart.so.12 libcudart.so.12", "other other other", "other other other"},
		{"the same by name and path", []string{open, "libcuda.so.1", fake, "libcuda.so"}, "libcuda.so.1 libcuda.so.1 libcuda.so.1", "", ""},
		{"PyTorch's other half, which has a version only", append([]string{open}, append(at("libtorch_cuda.so.2.6"), "libtorch_cuda_linalg.so")...), "fake fake", "", ""},
		{"a child", append([]string{open, "then"}, at("libcuda.so.1")...), "libcuda.so.1", "fake", "fake"},
		{"names of others", append([]string{open}, at("mylibcuda.so.1", "libcudartx.so.12", "libcudart.so.99")...), "fake other other", "fake other other", "fake other other"},
	}
	for _, w := range ways {
		for _, r := range rows {
			want := map[string]string{"audit": r.audit, "preload": r.preload, "path": r.path}[w.col]
			if want == "" {
				continue // depends on what the machine has
			}
			t.Run(w.name+"/"+r.what, func(t *testing.T) {
				argv := r.argv
				if w.front != "" {
					argv = append([]string{w.front, "run", "--no-tell", "--"}, argv...)
				}
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Env = append(cleanEnv(), w.env)
				out, err := cmd.CombinedOutput()
				if err != nil || string(out) != want+"\n" {
					t.Errorf("%v, %q, want %q", err, out, want)
				}
			})
		}
	}
}

// command is kudzu beside the libraries, as an installation has it.
func command(t *testing.T, libs string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(libs, filepath.Join(dir, "lib")); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "bin/kudzu")
	if out, err := exec.Command("go", "build", "-o", exe, "kudzu/cmd/kudzu").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return exe
}

// newLoader asks libc itself: kudzu must come to the same from the loader's file.
func newLoader(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("getconf", "GNU_LIBC_VERSION").Output()
	if err != nil {
		t.Skip("no getconf: which libc this is cannot be told")
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "glibc %d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 2 || major == 2 && minor >= 35
}

func cleanEnv() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "LD_") {
			env = append(env, e)
		}
	}
	return env
}

// TestAudit: the auditor needs no library, tells our files from copies of them, and stays quiet when it does not know where it is.
func TestAudit(t *testing.T) {
	libs := dist(t)
	audit := filepath.Join(libs, "libkudzu-audit.so")
	out, err := exec.Command("readelf", "-d", audit).Output()
	if err != nil {
		t.Skip("no readelf")
	}
	if strings.Contains(string(out), "NEEDED") {
		t.Errorf("it needs a library, so every program would load a second libc:\n%s", out)
	}
	open := compile(t, "load_open", "-ldl")
	long := "/" + strings.Repeat("x/", 3000)
	for _, list := range []string{audit + ":", ":" + audit, "/nowhere/libother.so:" + audit, long + "libkudzu-audit.so:" + audit} {
		cmd := exec.Command(open, "libcuda.so.1")
		cmd.Env = append(cleanEnv(), "LD_AUDIT="+list)
		if out, err := cmd.Output(); err != nil || string(out) != "libcuda.so.1\n" {
			t.Errorf("LD_AUDIT=%.60s…: %v, %q", list, err, out)
		}
	}
	// A program with a folder of its own that holds a whole vendor tree still loads its other libraries.
	if out, err := exec.Command("env", "LD_AUDIT="+audit, "sh", "-c", "echo fine").CombinedOutput(); err != nil || string(out) != "fine\n" {
		t.Errorf("%v %q", err, out)
	}
}

// TestStartTLS: a program linked with a library whose thread-local variables must be at a fixed place, as many as jemalloc has,
// starts under kudzu run.
func TestStartTLS(t *testing.T) {
	libs := dist(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tls.c":  "static __thread __attribute__((tls_model(\"initial-exec\"))) char room[2632];\nchar *own(void) { return room; }\n",
		"main.c": "#include <stdio.h>\nchar *own(void);\nint main(void) { own()[2631] = 1; puts(\"fine\"); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cc(t, "-shared", "-fPIC", filepath.Join(dir, "tls.c"), "-o", filepath.Join(dir, "libtls.so"))
	exe := filepath.Join(dir, "main")
	cc(t, filepath.Join(dir, "main.c"), "-o", exe, "-L"+dir, "-ltls", "-Wl,-rpath,"+dir)
	cmd := exec.Command(command(t, libs), "run", exe)
	cmd.Env = cleanEnv()
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "fine\n" {
		t.Errorf("%v %q", err, out)
	}
}

// TestDevices: a program that looks for the files of a GPU finds them, no others, and those of the system are the system's.
func TestDevices(t *testing.T) {
	libs := dist(t)
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("this machine has a GPU of NVIDIA's")
	}
	cmd := exec.Command(compile(t, "load_devices"), "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia1", "/dev/zero", "/nowhere", "/")
	const none = "/dev/nvidia0: 0\n/dev/nvidiactl: 0\n/dev/nvidia1: 0\n/dev/zero: 4 devices\n/nowhere: 0\n/: 4\n"
	for preload, want := range map[string]string{"": none, filepath.Join(libs, "libkudzu-devices.so"): strings.NewReplacer("0: 0", "0: 4 devices", "ctl: 0", "ctl: 4 devices").Replace(none)} {
		cmd := *cmd
		cmd.Env = append(cleanEnv(), "LD_PRELOAD="+preload)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("LD_PRELOAD=%s: %v, %q, want %q", preload, err, out, want)
		}
	}
}
