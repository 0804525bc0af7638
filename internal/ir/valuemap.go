package ir

// ValueMap is a map from values of one function, constants apart, without the cost of one: values are found by their IDs, which
// differ as long as nothing is renumbered.
type ValueMap[T any] struct {
	keys []*Value
	vals []T
}

// NewValueMap is an empty map with room for the values that f has now; others can be set too.
func NewValueMap[T any](f *Func) *ValueMap[T] {
	return &ValueMap[T]{make([]*Value, f.nextValue), make([]T, f.nextValue)}
}

// Get is what v has, the zero value where nothing was set.
func (m *ValueMap[T]) Get(v *Value) T {
	if uint(v.ID) < uint(len(m.keys)) && m.keys[v.ID] == v {
		return m.vals[v.ID]
	}
	var none T
	return none
}

// Set gives v a value.
func (m *ValueMap[T]) Set(v *Value, x T) {
	for v.ID >= len(m.keys) {
		var none T
		m.keys, m.vals = append(m.keys, nil), append(m.vals, none)
	}
	if k := m.keys[v.ID]; k != nil && k != v {
		panic("BUG: two values of one number")
	}
	m.keys[v.ID], m.vals[v.ID] = v, x
}
