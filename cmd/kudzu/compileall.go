package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"kudzu/internal/backend"
	"kudzu/internal/cache"
	"kudzu/internal/compile"
	"kudzu/internal/config"
	"kudzu/internal/cubin"
	"kudzu/internal/driver"
	"kudzu/internal/fatbin"
)

// usualBlock is the shape of kernels that say none. Code is made for a shape, so one that a program launches otherwise is
// compiled then.
var usualBlock = [3]uint32{256, 1, 1}

// bulk is the work of compile --all.
type bulk struct {
	command []string
	store   *cache.Cache
	jobs    []*compile.Request
	bar     *bar

	mu       sync.Mutex
	compiled int                 // guarded by mu
	cached   int                 // guarded by mu
	cannot   map[string]int      // reason: kernels that will be interpreted; guarded by mu
	failed   map[string]string   // kernel: error; guarded by mu
	none     *compile.NoCompiler // guarded by mu
}

// compileAll compiles every kernel of a module, a fat binary, a program or a library as its first launches would, and leaves
// the code in the cache: one compiler process a processor.
func compileAll(c *compileArgs, out io.Writer) error {
	data, err := readCode(c.file)
	if err != nil {
		return err
	}
	defer data.close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := &bulk{command: []string{self, "compiler"}, store: openCache(), cannot: map[string]int{}, failed: map[string]string{}}
	if err := b.find(c, data.bytes); err != nil {
		return err
	}
	begun := time.Now()
	b.bar = newBar(os.Stderr, len(b.jobs))
	b.run(min(cmp.Or(c.jobs, runtime.NumCPU()), len(b.jobs)))
	b.bar.clear()
	return b.report(c.file, out, time.Since(begun))
}

// find lists what is to be compiled, each code once.
func (b *bulk) find(c *compileArgs, data []byte) error {
	sm, err := capability(filesOf(c.file, data)...)
	if err != nil {
		return err
	}
	key := compile.New(compile.Config{Command: b.command})
	seen := map[cache.Key]bool{}
	kernels := 0
	add := func(text string) error {
		m, err := driver.Describe(c.file, text, sm)
		if err != nil {
			return err
		}
		for i := range m.Kernels {
			k := &m.Kernels[i]
			if c.kernel != "" && k.Name != c.kernel {
				continue
			}
			kernels++
			text, _, err := m.Slice(k.Name)
			if err != nil {
				return fmt.Errorf("kernel %s: %w", k.Name, err)
			}
			for _, block := range shapes(c, k) {
				req := &compile.Request{PTX: text, Kernel: k.Name, Block: block, Options: compile.Options{Tier: c.tier}}
				if id := key.Key(req); !seen[id] {
					seen[id] = true
					b.jobs = append(b.jobs, req)
				}
			}
		}
		return nil
	}
	switch {
	case isPTX(data):
		err = add(string(data))
	case cubin.Ours(data): // a file of our assembler's, as programs keep it that have kernels compiled
		var text string
		if text, err = cubin.Text(data); err == nil {
			err = add(text)
		}
	default:
		err = chosen(data, sm, add)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s:\n%w", c.file, err)
	case kernels == 0 && c.kernel != "":
		return fmt.Errorf("%s has no kernel %s", c.file, c.kernel)
	case kernels == 0:
		return fmt.Errorf("%s has no kernels", c.file)
	}
	return nil
}

// chosen gives the text that the driver would take of every fat binary of a file. One without text for this device is passed
// over, as it is when the program starts.
func chosen(data []byte, sm int, each func(text string) error) error {
	for f := range fatBinaries(data) {
		pick, err := fatbin.Choose([]*fatbin.Container{f}, sm)
		var none *fatbin.NoCode
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			return err
		}
		if err := each(strings.TrimRight(string(pick.Text), "\x00")); err != nil {
			return err
		}
	}
	return nil
}

// capability is the compute capability that a program of these files sees: an executable, the libraries it is linked with.
func capability(files ...string) (int, error) {
	c, err := backend.ClaimedCapability(config.Get(config.Capability), files...)
	return c.SM(), err
}

// shapes are the blocks to compile a kernel for: what it asks for, else what the user says, else what it is made for.
func shapes(c *compileArgs, k *backend.KernelDecl) [][3]uint32 {
	dims := func(d [3]int) [][3]uint32 {
		return [][3]uint32{{uint32(d[0]), uint32(max(d[1], 1)), uint32(max(d[2], 1))}}
	}
	switch {
	case k.ReqBlock[0] > 0:
		return dims(k.ReqBlock)
	case len(c.blocks) > 0:
		return c.blocks
	case k.MaxBlock[0] > 0:
		return dims(k.MaxBlock)
	}
	return [][3]uint32{usualBlock}
}

// run compiles in n processes.
func (b *bulk) run(n int) {
	work := make(chan *compile.Request)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			client := compile.New(compile.Config{Command: b.command, Cache: b.store, Jobs: 1})
			defer client.Close()
			for req := range work {
				done := b.bar.begin(req.Kernel)
				r, err := client.Compile(req)
				done()
				b.note(req.Kernel, r, err)
			}
		})
	}
	for _, req := range b.jobs {
		work <- req
	}
	close(work)
	wg.Wait()
}

func (b *bulk) note(kernel string, r *compile.Result, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var cannot *compile.Unsupported
	var none *compile.NoCompiler
	switch {
	case err == nil && r.FromCache:
		b.cached++
	case err == nil:
		b.compiled++
	case errors.As(err, &cannot):
		b.cannot[cannot.What]++
	case errors.As(err, &none):
		b.none = none
	default:
		b.failed[kernel] = err.Error()
	}
}

func (b *bulk) report(file string, out io.Writer, took time.Duration) error {
	if b.none != nil {
		return fmt.Errorf("nothing can be compiled here: %w", b.none)
	}
	fmt.Fprintf(out, "%s: %d kernels compiled in %.1f s, %d were in the cache\n", file, b.compiled, took.Seconds(), b.cached)
	for _, why := range slices.Sorted(maps.Keys(b.cannot)) {
		fmt.Fprintf(out, "%d will be interpreted: %s\n", b.cannot[why], why)
	}
	for _, k := range slices.Sorted(maps.Keys(b.failed)) {
		fmt.Fprintf(out, "%s: %s\n", k, b.failed[k])
	}
	if len(b.failed) > 0 {
		return fmt.Errorf("%d of %d kernels failed", len(b.failed), len(b.jobs))
	}
	return nil
}

// bar is the line a terminal shows while kernels compile; anything else gets none.
type bar struct {
	out   io.Writer // nil: none
	total int

	mu   sync.Mutex
	done int // guarded by mu
}

func newBar(out *os.File, total int) *bar {
	b := &bar{total: total}
	if _, err := unix.IoctlGetTermios(int(out.Fd()), unix.TCGETS); err == nil || config.Get(config.Progress) == "1" {
		b.out = out
	}
	return b
}

const barWidth, barName = 24, 36

// begin shows a kernel that compiles until the function it gives is called.
func (b *bar) begin(kernel string) (done func()) {
	b.draw(kernel, 0)
	return func() { b.draw(kernel, 1) }
}

func (b *bar) draw(kernel string, more int) {
	if b.out == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += more
	if len(kernel) > barName {
		kernel = kernel[:barName-1] + "…"
	}
	full := barWidth * b.done / max(b.total, 1)
	_, _ = fmt.Fprintf(b.out, "\r\x1b[K[%s%s] %d/%d %s", strings.Repeat("#", full), strings.Repeat("-", barWidth-full), b.done, b.total, kernel)
}

func (b *bar) clear() {
	if b.out != nil {
		_, _ = io.WriteString(b.out, "\r\x1b[K") // a terminal that is gone shows nothing
	}
}
