package compile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The test binary is also a compiler process that behaves as its second argument says.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "double" {
		double(os.Args[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func double(mode string) {
	hello, _ := EncodeHello(Hello{}) // always encodes
	switch mode {
	case "silent":
		return
	case "stillborn": // as often as the file has bytes
		file := os.Args[3]
		if i, err := os.Stat(file); err == nil && i.Size() > 0 {
			_ = os.Truncate(file, i.Size()-1)
			_, _ = os.Stdout.Write([]byte("KZF1")[:i.Size()%5])
			os.Exit(1)
		}
	case "sigpipe":
		writeToNobody()
		return
	case "garbage":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte{0xa5}, 10_000))
		return
	case "wrong frame":
		_ = WriteFrame(os.Stdout, Frame{Kind: FrameAnswer, ID: 1, Head: []byte("{}")})
		return
	case "refuses":
		f, _ := EncodeHello(Hello{NoCompiler: &NoCompiler{Why: "no libLLVM"}})
		_ = WriteFrame(os.Stdout, f)
		return
	}
	_ = WriteFrame(os.Stdout, hello)
	for {
		f, err := ReadFrame(os.Stdin)
		if err != nil {
			return
		}
		switch mode {
		case "garbage later":
			_, _ = os.Stdout.Write(bytes.Repeat([]byte{0xa5}, 10_000))
		case "dies":
			return
		case "bad head":
			_ = WriteFrame(os.Stdout, Frame{Kind: FrameAnswer, ID: f.ID, Head: []byte("{]")})
		case "no error":
			_ = WriteFrame(os.Stdout, Frame{Kind: FrameAnswer, ID: f.ID, Head: []byte(`{"Err":{}}`)})
		case "bad image":
			_ = WriteFrame(os.Stdout, Frame{Kind: FrameAnswer, ID: f.ID, Head: []byte(`{}`), Body: []byte("no image")})
		case "other id":
			_ = WriteFrame(os.Stdout, Frame{Kind: FrameAnswer, ID: f.ID + 1, Head: []byte(`{}`)})
			return
		case "half a frame":
			var b bytes.Buffer
			_ = WriteFrame(&b, Frame{Kind: FrameAnswer, ID: f.ID, Head: []byte(`{}`), Body: make([]byte, 1000)})
			_, _ = os.Stdout.Write(b.Bytes()[:500])
			return
		case "huge":
			_, _ = os.Stdout.Write([]byte("KZF1A\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\x0f\xff\xff\xff\x3f"))
			return
		}
	}
}

func TestBadProcesses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var (
		no     *NoCompiler
		crash  *Crash
		failed *Failed
	)
	for mode, want := range map[string]any{
		"silent": &no, "garbage": &no, "wrong frame": &no, "refuses": &no,
		"garbage later": &crash, "dies": &crash, "bad head": &crash, "other id": &crash, "half a frame": &crash, "huge": &crash,
		"no error": &failed, "bad image": &failed,
	} {
		c := New(Config{Command: []string{exe, "double", mode}, Timeout: time.Minute})
		start := time.Now()
		_, err := c.Compile(&Request{PTX: "x", Kernel: "k"})
		if !errors.As(err, want) {
			t.Errorf("%s: %T %v", mode, err, err)
		}
		if took := time.Since(start); took > 30*time.Second { // an answer is not waited for that cannot come
			t.Errorf("%s: took %v", mode, took)
		}
		c.Close()
		if _, err := c.Compile(&Request{}); !errors.As(err, &no) {
			t.Errorf("%s: after Close: %v", mode, err)
		}
	}
	for _, command := range [][]string{nil, {"/no/such/program"}, {t.TempDir()}, {"/etc/passwd"}, {"with\x00nul"}} {
		if _, err := New(Config{Command: command}).Compile(&Request{}); !errors.As(err, &no) {
			t.Errorf("%q: %v", command, err)
		}
	}
}

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	req := &Request{PTX: strings.Repeat("ptx", 1<<20), Kernel: "k", Target: Target{CPU: "x"}, Block: [3]uint32{1, 2, 3}, Options: Options{Level: 1}, Emit: []string{"asm"}, Dump: "cse"}
	f, err := EncodeRequest(7, req, 99)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFrame(&b, f); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(b.Bytes())
	g, err := ReadFrame(&b)
	if err != nil {
		t.Fatal(err)
	}
	got, timeout, err := DecodeRequest(g)
	if err != nil || timeout != 99 || !reflect.DeepEqual(got, req) || g.ID != 7 {
		t.Errorf("%v %d", err, timeout)
	}
	for _, n := range []int{1, 19, 20, 100, len(whole) - 1} {
		if _, err := ReadFrame(bytes.NewReader(whole[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d: %v", n, err)
		}
	}
	for _, e := range []error{
		&PTXError{List: []string{"a", "b"}}, &Unsupported{"x", 3}, &Crash{"k", "killed", "d", true, 3}, &NoCompiler{"w"}, &Failed{"s", "t"},
	} {
		f, err := EncodeAnswer(1, nil, e)
		if err != nil {
			t.Fatal(err)
		}
		if _, failure, broken := DecodeAnswer(f); broken != nil || !reflect.DeepEqual(failure, e) {
			t.Errorf("%v came back as %v, %v", e, failure, broken)
		}
	}
}

// FuzzReadFrame checks that no stream panics or makes us allocate much more than it holds.
func FuzzReadFrame(f *testing.F) {
	var b bytes.Buffer
	_ = WriteFrame(&b, Frame{Kind: FrameAnswer, ID: 1, Head: []byte(`{"Err":{"Crash":{"Kernel":"k"}}}`), Body: []byte("body")})
	f.Add(b.Bytes())
	f.Add([]byte("KZF1A\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\x0f\xff\xff\xff\x3f"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		fr, err := ReadFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		_, _, _ = DecodeAnswer(fr)
		_, _, _ = DecodeRequest(fr)
		_, _ = DecodeHello(fr)
	})
}

// Every field that changes code changes the key; what only asks for more output does not.
func TestKey(t *testing.T) {
	base := Request{PTX: "p", Kernel: "k", Block: [3]uint32{1, 1, 1}}
	c := New(Config{Version: "1"})
	k := c.Key(&base)
	for name, change := range map[string]func(*Request){
		"ptx":      func(r *Request) { r.PTX = "pk" },
		"kernel":   func(r *Request) { r.Kernel = "kk" },
		"shift":    func(r *Request) { r.PTX, r.Kernel = "pk", "" },
		"triple":   func(r *Request) { r.Target.Triple = "t" },
		"cpu":      func(r *Request) { r.Target.CPU = "c" },
		"features": func(r *Request) { r.Target.Features = "f" },
		"block":    func(r *Request) { r.Block[2] = 2 },
		"level":    func(r *Request) { r.Options.Level = 1 },
		"passes":   func(r *Request) { r.Options.Passes = "x" },
		"amx":      func(r *Request) { r.Options.AMX = true },
		"tier":     func(r *Request) { r.Options.Tier = Baseline },
		"facts":    func(r *Request) { r.FactsOnly = true },
	} {
		r := base
		change(&r)
		if c.Key(&r) == k {
			t.Errorf("%s does not change the key", name)
		}
	}
	same := base
	same.Emit, same.Dump = []string{"asm"}, "cse"
	if c.Key(&same) != k {
		t.Error("output options change the key")
	}
	if New(Config{Version: "2"}).Key(&base) == k {
		t.Error("the compiler's version does not change the key")
	}
}

func TestBuildID(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id := buildID(exe)
	if len(id) < 20 || id == "unreadable" {
		t.Errorf("own build id %q", id)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := buildID(script); len(got) != 64 {
		t.Errorf("of a script: %q", got)
	}
	if got := buildID("/no/such"); got != "unreadable" {
		t.Errorf("of nothing: %q", got)
	}
	for _, b := range [][]byte{nil, bytes.Repeat([]byte{0xff}, 64), {4, 0, 0, 0, 200, 0, 0, 0, 4, 0, 0, 0, 'G', 'o', 0, 0}} {
		if id := goNote(b); id != "" {
			t.Errorf("% x: %q", b, id)
		}
	}
}

// A host that leaves SIGPIPE at its default, as C programs do, survives a compiler process that is gone.
func TestNoSIGPIPE(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(exe, "double", "sigpipe").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "broken pipe, alive") {
		t.Errorf("%v: %s", err, out)
	}
}
