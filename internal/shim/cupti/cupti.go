// Package cupti answers CUPTI: nothing is measured, and programs that would are told so. It is there because programs are linked
// with the library, or open it at their start, and NVIDIA's own wants the inside of NVIDIA's driver.
package cupti

import (
	"errors"
	"fmt"
	"time"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ptiapi"
)

// Thread is the calling thread; its methods are the functions of CUPTI.
type Thread driver.Thread

// Result is a result code as an error.
type Result ptiapi.CUptiResult

func (r Result) Error() string { return fmt.Sprintf("CUPTI error %d", int32(r)) }

const noMore = Result(ptiapi.CUPTI_ERROR_MAX_LIMIT_REACHED)

// Code is the number C gets for an error.
func Code(err error) int32 {
	var r Result
	if errors.As(err, &r) {
		return int32(r)
	}
	return int32(ptiapi.CUPTI_ERROR_UNKNOWN)
}

// GetLastError is the last failure of this thread. None is kept.
func (t *Thread) GetLastError() error { return nil }

// GetTimestamp is the time that records would have, in nanoseconds.
func (t *Thread) GetTimestamp() (uint64, error) { return uint64(time.Now().UnixNano()), nil }

// Finalize ends measurements.
func (t *Thread) Finalize() error { return nil }

// ActivityFlushAll delivers the records so far: none.
func (t *Thread) ActivityFlushAll(uint32) error { return nil }

// ActivityDisable ends records of a kind.
func (t *Thread) ActivityDisable(uint32) error { return nil }

// ActivityGetNumDroppedRecords is how many records had no place.
func (t *Thread) ActivityGetNumDroppedRecords(hostmem.Ptr, uint32) (uint64, error) { return 0, nil }

// ActivityGetNextRecord is the record behind another in a buffer. There are none.
func (t *Thread) ActivityGetNextRecord(hostmem.Ptr, uint64, hostmem.Ptr) error { return noMore }

// DeviceSupported says whether a device can be measured.
func (t *Thread) DeviceSupported(int32) (int32, error) { return 0, nil }
