// A Go program that uses CUDA: two Go runtimes in one process. The host's must still be
// able to stop its own goroutines, for which it sends itself signals.
package main

// #cgo LDFLAGS: -lcuda
// #include <cuda.h>
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

var stop atomic.Bool

// spin never calls a function: only a signal stops it for the collector.
func spin(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end) && !stop.Load(); {
		x := uint64(1)
		for i := 0; i < 1<<31; i++ {
			x = x*6364136223846793005 + 1
		}
		sink.Store(x)
	}
}

var sink atomic.Uint64

func main() {
	if rc := C.cuInit(0); rc != 0 {
		fmt.Println("cuInit:", rc)
		os.Exit(1)
	}
	var n C.int
	for range 1000 {
		if rc := C.cuDeviceGetCount(&n); rc != 0 || n < 1 {
			fmt.Println("cuDeviceGetCount:", rc, n)
			os.Exit(1)
		}
	}
	go spin(20 * time.Second)
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	runtime.GC()
	took := time.Since(start)
	stop.Store(true)
	if took > time.Second {
		fmt.Println("the host's collector waited", took)
		os.Exit(1)
	}
	fmt.Println("ok")
}
