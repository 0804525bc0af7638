package c

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesOfGPU: a program of kudzu run finds the files of its devices, asked through libc or not, and nobody else does.
func TestFilesOfGPU(t *testing.T) {
	libs := dist(t)
	kudzu := command(t, libs)
	look := "cat /proc/driver/nvidia/version; for f in /dev/nvidia0 /dev/nvidia1 /dev/nvidiactl /dev/nvidia-uvm; do test -c $f && echo $f; done; ls /proc/driver/nvidia/gpus; echo x >/dev/null && pwd"
	cmd := exec.Command(kudzu, "run", "--files", "namespace", "sh", "-c", look)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cleanEnv(), "KUDZU_DEVICES=2", "KUDZU_DRIVER_VERSION=13.0")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "will not find") {
		t.Skipf("no mount namespace here: %s", out)
	}
	if _, there := os.Stat("/dev/nvidiactl"); there == nil {
		t.Skip("this machine has a GPU of NVIDIA's")
	}
	dir, linkErr := filepath.EvalSymlinks(cmd.Dir)
	text := string(out)
	if err != nil || linkErr != nil || !strings.HasPrefix(text, "NVRM version: ") ||
		!strings.HasSuffix(text, "/dev/nvidia0\n/dev/nvidia1\n/dev/nvidiactl\n/dev/nvidia-uvm\n0000:01:00.0\n0000:02:00.0\n"+dir+"\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Error("/dev/nvidiactl is there for everybody")
	}
	// Readable by others whatever the umask, which the program keeps; of this machine's kind.
	cmd = exec.Command("sh", "-c", "umask 077; exec "+kudzu+" run --files namespace sh -c 'umask; stat -c %a /dev/nvidiactl /proc/driver/nvidia /proc/driver/nvidia/version; grep -c \"UNIX $(uname -m) \" /proc/driver/nvidia/version'")
	cmd.Env = cleanEnv()
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "0077\n666\n555\n444\n1\n" {
		t.Errorf("umask 077: %v, %q", err, out)
	}
	cmd = exec.Command(kudzu, "run", "--files", "none", "--load", "path", "sh", "-c", "test -c /dev/nvidia0")
	cmd.Env = cleanEnv()
	if err := cmd.Run(); err == nil {
		t.Error("--files none: /dev/nvidia0 is there")
	}
}

// asOther starts a program as a user without rights.
const asOther = "setpriv --reuid 65534 --regid 65534 --clear-groups "

// enteredBy runs a script in which ENTER is kudzu-enter, as this user or as another one. Whether this machine allows what kudzu-enter
// does is asked of unshare, so that a kudzu-enter that starts nothing fails.
func enteredBy(t *testing.T, other bool, script string, check func(t *testing.T, out string, err error)) {
	enter := filepath.Join(dist(t), "kudzu-enter") + " -v 1 1 x "
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("this machine has a GPU of NVIDIA's")
	}
	as, namespaces := "", "unshare --mount true"
	if other {
		if os.Geteuid() != 0 {
			t.Skip("only root can start another user")
		}
		if _, err := exec.LookPath("setpriv"); err != nil {
			t.Skip("no setpriv")
		}
		as = asOther
	}
	if other || os.Geteuid() != 0 {
		namespaces = "unshare --user --map-root-user --mount true"
	}
	if out, err := exec.Command("sh", "-c", "cd / && "+as+namespaces).CombinedOutput(); err != nil {
		t.Skipf("no namespace here: %v, %s", err, out)
	}
	out, err := exec.Command("sh", "-c", strings.ReplaceAll(script, "ENTER ", as+enter)).CombinedOutput()
	check(t, string(out), err)
}

// entered is enteredBy for both, in each case where this machine allows it.
func entered(t *testing.T, script string, check func(t *testing.T, out string, err error)) {
	t.Run("self", func(t *testing.T) { enteredBy(t, false, script, check) })
	t.Run("other", func(t *testing.T) { enteredBy(t, true, script, check) })
}

// opened lets every user into a folder of the test's.
func opened(t *testing.T, dir string) {
	t.Helper()
	for ; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEntered: kudzu-enter starts a program in the directory that it was started in.
func TestEntered(t *testing.T) {
	entered(t, "cd / && ENTER /bin/pwd pwd", func(t *testing.T, out string, err error) {
		if err != nil || out != "/\n" {
			t.Errorf("%v, %q", err, out)
		}
	})
}

// TestFilesOfGPUTerminal: a program beside the files of a GPU opens pseudo-terminals.
func TestFilesOfGPUTerminal(t *testing.T) {
	app := compile(t, "open_pty")
	if out, err := exec.Command(app).CombinedOutput(); err != nil {
		t.Skipf("no pseudo-terminals here: %v, %s", err, out)
	}
	opened(t, filepath.Dir(app))
	entered(t, "cd / && ENTER "+app+" open_pty", func(t *testing.T, out string, err error) {
		if err != nil || out != "hello, a terminal: yes\n" {
			t.Errorf("%v, %q", err, out)
		}
	})
}

// TestFilesOfGPUSandbox: a sandbox that a program starts beside the files of a GPU can mount a /proc of its own.
func TestFilesOfGPUSandbox(t *testing.T) {
	sandbox := "unshare --user --map-root-user --pid --fork --mount-proc "
	if out, err := exec.Command("sh", "-c", "cd / && "+sandbox+"true").CombinedOutput(); err != nil {
		t.Skipf("no sandbox here: %v, %s", err, out)
	}
	entered(t, "cd / && ENTER /usr/bin/env env "+sandbox+"sh -c 'echo $$; ls -d /proc/driver/nvidia'", func(t *testing.T, out string, err error) {
		if err == nil || !strings.HasPrefix(out, "1\n") || strings.Count(out, "No such file") != 1 {
			t.Errorf("%v, %q", err, out)
		}
	})
	entered(t, "cd / && ENTER /bin/ls ls -a /proc/driver", func(t *testing.T, out string, err error) {
		if err != nil || !strings.Contains(out, "\nnvidia\n") || strings.Contains(out, "\nall\n") {
			t.Errorf("%v, %q", err, out)
		}
	})
}

// TestFilesOfGPUSignal: a program that was started with SIGCHLD blocked has none waiting.
func TestFilesOfGPUSignal(t *testing.T) {
	if out, err := exec.Command("env", "--block-signal=CHLD", "true").CombinedOutput(); err != nil {
		t.Skipf("env: %v, %s", err, out)
	}
	entered(t, "cd / && env --block-signal=CHLD ENTER /bin/grep grep ShdPnd /proc/self/status", func(t *testing.T, out string, err error) {
		if err != nil || out != "ShdPnd:\t0000000000000000\n" {
			t.Errorf("%v, %q", err, out)
		}
	})
}

// TestFilesOfGPUBelow: a program whose working directory has another one mounted over its name stays in it.
func TestFilesOfGPUBelow(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	opened(t, dir)
	below := "unshare -m sh -c 'cd " + dir + " && mount -t tmpfs tmpfs " + dir + " && exec "
	if out, err := exec.Command("sh", "-c", below+"ls'").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace here: %v, %s", err, out)
	}
	entered(t, below+"ENTER /bin/ls ls'", func(t *testing.T, out string, err error) {
		if lines := strings.Split(strings.TrimSpace(out), "\n"); err != nil || lines[len(lines)-1] != "mine" {
			t.Errorf("%v, %q", err, out)
		}
	})
}

// TestFilesOfGPUElsewhere: a user whose working directory cannot be entered by its name stays in it, without the files.
func TestFilesOfGPUElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o700)); err != nil {
		t.Fatal(err)
	}
	enteredBy(t, true, "cd "+dir+" && exec ENTER /usr/bin/readlink readlink /proc/self/cwd", func(t *testing.T, out string, err error) {
		if err != nil || !strings.Contains(out, "will not find") || !strings.HasSuffix(out, "\n"+dir+"\n") {
			t.Errorf("%v, %q", err, out)
		}
	})
}

// TestFilesOfGPUAll: where some of the files cannot be made, none of them is there.
func TestFilesOfGPUAll(t *testing.T) {
	enter, dir := filepath.Join(dist(t), "kudzu-enter"), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia"), nil, 0o644); err != nil { // where a folder has to be
		t.Fatal(err)
	}
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("this machine has a GPU of NVIDIA's")
	}
	if out, err := exec.Command("unshare", "-m", "mount", "--bind", dir, "/proc/driver").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace here: %v, %s", err, out)
	}
	out, err := exec.Command("unshare", "-m", "sh", "-c", "mount --bind "+dir+" /proc/driver && exec "+enter+" -v 1 1 x /bin/ls ls /dev /proc/driver").CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "will not find") || strings.Contains(text, "nvidiactl\n") {
		t.Errorf("%v\n%s", err, text)
	}
}
