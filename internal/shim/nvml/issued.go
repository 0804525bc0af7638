package nvml

// issued are handles of one kind that were given out and not taken back.
type issued[H ~uint64] struct { // guarded by mu
	last H
	live map[H]bool
}

func (s *issued[H]) add() (H, error) {
	if err := ready(); err != nil {
		return 0, err
	}
	mu.Lock()
	defer mu.Unlock()
	if s.live == nil {
		s.live = map[H]bool{}
	}
	s.last++
	s.live[s.last] = true
	return s.last, nil
}

func (s *issued[H]) check(h H) error {
	if err := ready(); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	if !s.live[h] {
		return invalidArgument
	}
	return nil
}

func (s *issued[H]) free(h H) error {
	if err := s.check(h); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	delete(s.live, h)
	return nil
}
