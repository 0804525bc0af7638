package shim

import (
	"sync/atomic"

	"kudzu/internal/lockrank"
)

// Providers are those that may do a library's work instead of our kernels, in the order they are asked. They come when the process
// starts and are read at every call, so reading takes no lock.
type Providers[P any] struct {
	mu   lockrank.Mutex[lockrank.ShimProviders]
	list atomic.Pointer[[]P]
}

// Add puts a provider behind those there are.
func (s *Providers[P]) Add(p P) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := append(append([]P(nil), s.All()...), p)
	s.list.Store(&list)
}

// All are the providers; nil if there are none.
func (s *Providers[P]) All() []P {
	if list := s.list.Load(); list != nil {
		return *list
	}
	return nil
}

// Clear forgets them.
func (s *Providers[P]) Clear() { s.list.Store(nil) }
