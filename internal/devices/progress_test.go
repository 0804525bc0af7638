package devices

import (
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

type screen struct {
	mu sync.Mutex
	b  strings.Builder // guarded by mu
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestProgress(t *testing.T) {
	var out screen
	p := &progress{out: &out, delay: time.Millisecond, every: time.Millisecond}
	first, second := p.begin("one"), p.begin(strings.Repeat("long", 50))
	one, two := regexp.MustCompile(`kernel 1, \d+ s: one`), regexp.MustCompile(`kernel 2, \d+ s: longlong`)
	shown := func(r *regexp.Regexp) {
		for until := time.Now().Add(time.Minute); !r.MatchString(out.text()) && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
	}
	shown(one)
	first()
	shown(two)
	second()
	s := out.text()
	if !one.MatchString(s) || !two.MatchString(s) || !strings.HasSuffix(s, "\r\x1b[K") || strings.Contains(s, strings.Repeat("long", 11)) {
		t.Errorf("%q", s)
	}
	// A quick one leaves no trace.
	var none screen
	p = &progress{out: &none, delay: time.Hour, every: time.Hour}
	p.begin("quick")()
	if none.text() != "" {
		t.Errorf("%q", none.text())
	}
}

// Not a terminal: nothing, unless asked for.
func TestProgressWhere(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for set, want := range map[string]bool{"": false, "0": false, "1": true} {
		t.Setenv("KUDZU_PROGRESS", set)
		if got := newProgress(f, int(f.Fd())) != nil; got != want {
			t.Errorf("KUDZU_PROGRESS=%q: %v", set, got)
		}
	}
}

func TestPlain(t *testing.T) {
	for name, want := range map[string]string{
		"_Z9mul_mat_qIL9ggml_type12ELi128ELb0EEvPKc": "mul_mat_q<…>", "_Z13quantize_q8_1PKfPvlllllj5uint3": "quantize_q8_1",
		"vecadd": "vecadd", "_ZN3cub4scanEv": "_ZN3cub4scanEv", "_Z99x": "_Z99x", "_Z": "_Z", "": "", "_Z99999999999999999999x": "_Z99999999999999999999x",
	} {
		if got := plain(name); got != want {
			t.Errorf("plain(%q) = %q, want %q", name, got, want)
		}
	}
}
