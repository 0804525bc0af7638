// Package shrink makes lists smaller while something still holds for them: what reducers of random programs and of dumped launches share.
package shrink

// List drops runs of a list's elements, large ones first, as long as holds says that what it is about is still there. The order stays.
func List[T any](list []T, holds func([]T) bool) []T {
	for size := len(list); size > 0; size /= 2 {
		for i := 0; i < len(list); {
			end := min(i+size, len(list))
			next := append(append(make([]T, 0, len(list)), list[:i]...), list[end:]...)
			if holds(next) {
				list = next
			} else {
				i = end
			}
		}
	}
	return list
}
