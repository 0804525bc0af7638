package direct

import "slices"

// closed is the pattern of an upper triangular factor by rows, the diagonal first. Each set, ascending and not below its number, has what
// a row holds before the elimination; row k then has its own columns and those of every row that ends in it, so that after
// eliminating column k a row goes on as row parent(k), the next column. For the lower part of a matrix by columns it is the pattern of its
// Cholesky factor, for rows by their first column it is that of R.
func closed(n int, sets func(k int) [][]int32) Pattern {
	p := Pattern{n, n, make([]int, 1, n+1), nil}
	seen := make([]int32, n) // the row that took a column last, from 1
	children := make([][]int32, n)
	for k := range n {
		row := []int32{int32(k)}
		seen[k] = int32(k) + 1
		take := func(columns []int32) {
			for _, j := range columns {
				if seen[j] != int32(k)+1 {
					seen[j] = int32(k) + 1
					row = append(row, j)
				}
			}
		}
		for _, s := range sets(k) {
			take(s)
		}
		for _, c := range children[k] {
			take(p.Row(int(c))[1:])
		}
		children[k] = nil
		slices.Sort(row)
		if len(row) > 1 {
			children[row[1]] = append(children[row[1]], int32(k))
		}
		p.Index = append(p.Index, row...)
		p.From = append(p.From, len(p.Index))
	}
	return p
}
