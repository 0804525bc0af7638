// Package nccl answers NCCL: communicators of any number of ranks, in threads of one process, in processes of one host and on several
// hosts.
//
// A call puts one task into its stream. The task runs on a goroutine when the stream gets there, meets the tasks of the other ranks, and
// works on the buffers themselves. Where all ranks are of one host, collective operations read and write the other ranks' buffers, which
// each process has mapped (near.go); they are operations of the engine's, and need a goroutine only where a rank is late. Otherwise, and for sends, ranks hand each other messages (message.go): in one process the receiver
// reads the sender's memory, on one host it has the kernel copy it, between hosts the bytes go through TCP. Everything else is the same
// for all (collective.go). Reductions take the ranks in their order, so that results depend on nothing else.
package nccl

import (
	"errors"
	"fmt"
	"sync/atomic"

	"kudzu/internal/driver"
	"kudzu/internal/spec/ncclapi"
)

// Thread is the calling thread; its methods are the functions of NCCL.
type Thread driver.Thread

func (t *Thread) driver() *driver.Thread { return (*driver.Thread)(t) }

// failure is a result code with the line that says why.
type failure struct {
	code ncclapi.NcclResult_t
	text string
}

func (f *failure) Error() string { return f.text }

func failf(code ncclapi.NcclResult_t, format string, args ...any) *failure {
	return &failure{code, fmt.Sprintf(format, args...)}
}

func badArgument(format string, args ...any) error {
	return failf(ncclapi.NcclInvalidArgument, format, args...)
}

func badUsage(format string, args ...any) error {
	return failf(ncclapi.NcclInvalidUsage, format, args...)
}

// inProgress is the answer of communicators that do not block.
var inProgress error = &failure{ncclapi.NcclInProgress, ""}

// said takes the text that ncclGetLastError answers.
var said atomic.Pointer[func(string)]

// Say names the function that keeps the text of the last failure where C finds it.
func Say(f func(string)) { said.Store(&f) }

// Code is the number C gets for an error.
func Code(err error) int32 {
	f := asFailure(err)
	if say := said.Load(); say != nil && f.text != "" {
		(*say)(f.text)
	}
	return int32(f.code)
}

// asFailure is an error in NCCL's words.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	var r driver.Result
	if errors.As(err, &r) {
		return failf(ncclapi.NcclUnhandledCudaError, "CUDA: %v", err)
	}
	return failf(ncclapi.NcclSystemError, "%v", err)
}

// GetVersion is the version of the interface that is answered: 2.32.3.
func (t *Thread) GetVersion() (int32, error) {
	prepareJob()
	return ncclapi.NCCL_VERSION_CODE, nil
}
