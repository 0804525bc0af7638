//go:build !race && !lockrank

package lockrank

import "sync"

// Mutex is a sync.Mutex at the place of L in Order.
type Mutex[L any] = sync.Mutex

// RWMutex is a sync.RWMutex at the place of L in Order.
type RWMutex[L any] = sync.RWMutex

// Enter says that a lock of another make is about to be taken, and Leave that it was given back.
func Enter[L any]() {}

// Leave is the end of what Enter began.
func Leave[L any]() {}

// Wait says that the goroutine is about to wait for work of a queue.
func Wait() {}
