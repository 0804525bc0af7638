package bind

import (
	"unsafe"

	"kudzu/internal/driver"
)

// refuse answers a null pointer where a result must go. As the real driver does, it says
// first that there is no driver yet.
func refuse(thread unsafe.Pointer) int32 {
	if _, err := (*driver.Thread)(thread).DeviceGetCount(); err != nil {
		return code(err)
	}
	return invalidValue
}
