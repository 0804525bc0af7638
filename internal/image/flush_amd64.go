package image

// flushInstructions does nothing: x86 keeps instruction fetch coherent with stores, and mprotect is a barrier.
func flushInstructions([]byte) {}
