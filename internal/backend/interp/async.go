package interp

// asyncGroups is what a thread has started and not waited for. Copies are done when they are issued, which every wait allows.
type asyncGroups struct{}
