// Package driver is the CUDA driver API in Go: devices, contexts, modules, functions, streams, events, memory.
//
// Each exported method of *Thread is one CUDA function with the vendor's name less its "cu" prefix and
// version suffix; cmd/gen binds the C entry points to the methods it finds. Objects are reached through
// handles only, so a stale, foreign or random value is an error code and never a crash.
package driver
