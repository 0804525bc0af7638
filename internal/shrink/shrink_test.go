package shrink_test

import (
	"slices"
	"testing"

	"kudzu/internal/shrink"
)

// What is needed stays, in its order, and nothing else.
func TestList(t *testing.T) {
	var all []int
	for i := range 100 {
		all = append(all, i)
	}
	calls := 0
	got := shrink.List(all, func(l []int) bool {
		calls++
		return slices.Contains(l, 3) && slices.Contains(l, 77) && slices.Contains(l, 78)
	})
	if !slices.Equal(got, []int{3, 77, 78}) || calls > 100 {
		t.Errorf("%v in %d calls", got, calls)
	}
	if got := shrink.List(all, func([]int) bool { return true }); len(got) != 0 {
		t.Errorf("%d are left of what nobody needs", len(got))
	}
}
