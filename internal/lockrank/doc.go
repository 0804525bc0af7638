// Package lockrank is the order of all locks of the runtime, and a check of it.
//
// A lock is declared with its place: `mu lockrank.Mutex[lockrank.DriverStream]`. A goroutine may take it only while it holds locks
// that come before it in Order. In a normal build the types are those of package sync and cost nothing. With -race, or with
// -tags lockrank, each Lock looks at what its goroutine holds, and a lock out of order is a panic that names both.
//
// docs/locks.md shows the order, with the engine's locks in C, which are checked by themselves (internal/engine/internal.h).
package lockrank
