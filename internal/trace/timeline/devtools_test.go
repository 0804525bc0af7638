package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// browser is a headless Chromium that is told what to do through two pipes, in the DevTools protocol.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	id      int
}

func startBrowser(t *testing.T, program string, width, height int) *browser {
	t.Helper()
	theirsIn, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, theirsOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", "--force-device-scale-factor=1",
		fmt.Sprintf("--window-size=%d,%d", width, height), "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirsIn, theirsOut} // 3 and 4, as it expects them
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirsIn.Close()
	theirsOut.Close()
	from.SetReadDeadline(time.Now().Add(100 * time.Second))
	b := &browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		b.call("Browser.close", nil, nil)
		cmd.Wait()
		to.Close()
		from.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	return b
}

func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.id++
	m := map[string]any{"id": b.id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		m["sessionId"] = b.session
	}
	js, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(js, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			if method == "Browser.close" {
				return
			}
			b.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		if err := json.Unmarshal(line[:len(line)-1], &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.id {
			continue // an event
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// eval gives the value of an expression, which may be a promise, in the page.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if value != nil {
		if err := json.Unmarshal(r.Result.Value, value); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

func (b *browser) open(file string) {
	b.t.Helper()
	b.call("Runtime.evaluate", map[string]any{"expression": "delete window.kudzu"}, nil)
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for range 600 {
		var ready bool
		b.eval("!!(window.kudzu && kudzu.ready)", &ready)
		if ready {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatal("the page draws nothing")
}

func (b *browser) mouse(kind string, x, y float64, more map[string]any) {
	b.t.Helper()
	p := map[string]any{"type": kind, "x": x, "y": y}
	for k, v := range more {
		p[k] = v
	}
	b.call("Input.dispatchMouseEvent", p, nil)
}

func (b *browser) key(key string) {
	b.t.Helper()
	p := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		p["text"] = key
	}
	b.call("Input.dispatchKeyEvent", p, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

func (b *browser) screenshot(file string) {
	b.t.Helper()
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	if err := os.WriteFile(file, shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
