package testkit

import "testing"

// TestAppCUPTI: nothing is measured, and programs learn it by result codes.
func TestAppCUPTI(t *testing.T) {
	newApp(t, "cpu", appProgram(t, "app_cupti", "-l:libcupti.so.13")).run().want(t, "version 0 130000, no place: CUPTI_ERROR_INVALID_PARAMETER\n"+
		"enable: CUPTI_ERROR_NOT_SUPPORTED\nsubscribe: CUPTI_ERROR_NOT_SUPPORTED\nnext: CUPTI_ERROR_MAX_LIMIT_REACHED\ndisable 0, flush 0, last 0, end 0\n"+
		"dropped 0 0, supported 0 0\ntime 0 0 goes on\nunknown code: no text, nvtx 0\n")
}
