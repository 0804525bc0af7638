//go:build race || lockrank

package lockrank

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// Mutex is a sync.Mutex at the place of L in Order.
type Mutex[L any] struct{ mu sync.Mutex }

// Lock checks the order and locks.
func (m *Mutex[L]) Lock() {
	Enter[L]()
	m.mu.Lock()
}

// Unlock unlocks.
func (m *Mutex[L]) Unlock() {
	Leave[L]()
	m.mu.Unlock()
}

// RWMutex is a sync.RWMutex at the place of L in Order.
type RWMutex[L any] struct{ mu sync.RWMutex }

// Lock checks the order and locks for writing.
func (m *RWMutex[L]) Lock() {
	Enter[L]()
	m.mu.Lock()
}

// Unlock ends that.
func (m *RWMutex[L]) Unlock() {
	Leave[L]()
	m.mu.Unlock()
}

// RLock checks the order and locks for reading.
func (m *RWMutex[L]) RLock() {
	Enter[L]()
	m.mu.RLock()
}

// RUnlock ends that.
func (m *RWMutex[L]) RUnlock() {
	Leave[L]()
	m.mu.RUnlock()
}

var ranks = sync.OnceValue(func() map[reflect.Type]int {
	m := map[reflect.Type]int{}
	for i, r := range Order() {
		m[r.Lock] = i
	}
	return m
})

var order = sync.OnceValue(Order)

// held are the locks of each goroutine, as places in the order.
var held struct {
	mu sync.Mutex
	by map[int64][]int // guarded by mu
}

// goroutine is the number of the one that runs. There is no other way to it.
func goroutine() int64 {
	var b [64]byte
	fields := bytes.Fields(b[:runtime.Stack(b[:], false)])
	n, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		panic("BUG: a stack begins with " + string(b[:]))
	}
	return n
}

func rank[L any]() int {
	i, ok := ranks()[reflect.TypeFor[L]()]
	if !ok {
		panic(fmt.Sprintf("BUG: %v has no place in lockrank.Order", reflect.TypeFor[L]()))
	}
	return i
}

// Enter says that a lock of another make is about to be taken, and Leave that it was given back.
func Enter[L any]() {
	i, g := rank[L](), goroutine()
	held.mu.Lock()
	defer held.mu.Unlock()
	if held.by == nil {
		held.by = map[int64][]int{}
	}
	for _, h := range held.by[g] {
		if h > i || h == i && !order()[i].Nests {
			panic(fmt.Sprintf("BUG: lock order: %s is taken under %s", order()[i].Lock.Name(), order()[h].Lock.Name()))
		}
	}
	held.by[g] = append(held.by[g], i)
}

// Leave is the end of what Enter began.
func Leave[L any]() {
	i, g := rank[L](), goroutine()
	held.mu.Lock()
	defer held.mu.Unlock()
	list := held.by[g]
	at := slices.Index(list, i)
	if at < 0 {
		panic(fmt.Sprintf("BUG: %s is given back by a goroutine that does not hold it", order()[i].Lock.Name()))
	}
	if held.by[g] = slices.Delete(list, at, at+1); len(held.by[g]) == 0 {
		delete(held.by, g)
	}
}

// Wait says that the goroutine is about to wait for work of a queue.
func Wait() {
	g := goroutine()
	held.mu.Lock()
	defer held.mu.Unlock()
	for _, h := range held.by[g] {
		if !order()[h].Waits {
			panic(fmt.Sprintf("BUG: lock order: a queue is waited for under %s", order()[h].Lock.Name()))
		}
	}
}
