package warp

import (
	"kudzu/internal/ll"
)

// Packed rows: where rows of eight words lie one behind the other, two lanes' are a vector. Whole vectors are loaded and stored, which later
// accesses of other lanes find whole, and are turned in three steps.

const packedRow = 8 // words

// packed reports rows of all lanes without anything between them.
func (e *emitter) packed(g *rowGroup) bool {
	s, _ := e.pattern(g.at)
	return len(g.list)*rowSize(g.at) == 4*packedRow && s.Stride == 4*packedRow
}

// cell is a word: of which lane, and which of its row.
type cell struct{ lane, word int }

// square is eight vectors of 16 words, and what is where in them.
type square struct {
	x     [packedRow]ll.Val
	where [packedRow][tileRows]cell
}

// exchangeBits swaps bit v of the vectors' numbers and bit p of the places in them. The last step puts each word where it belongs.
func (e *emitter) exchangeBits(q *square, v, p int, last func(vector, place int) cell) {
	for i := range q.x {
		if i>>v&1 != 0 {
			continue
		}
		j := i | 1<<v
		pair := [2]ll.Val{q.x[i], q.x[j]}
		from := [2][tileRows]cell{q.where[i], q.where[j]}
		for k, to := range []int{i, j} {
			for place := range tileRows { // the half of both in which bit p is k, the first vector's where it was 0 here
				q.where[to][place] = from[place>>p&1][place&^(1<<p)|k<<p]
			}
			if last != nil {
				for place := range tileRows {
					q.where[to][place] = last(to, place)
				}
			}
			at := map[cell]int{}
			for place := range tileRows {
				at[from[0][place]], at[from[1][place]] = place, tileRows+place
			}
			q.x[to] = e.Shuffle(pair[0], pair[1], rangeInts(0, tileRows, func(place int) int { return at[q.where[to][place]] }))
		}
	}
}

// loadPacked loads the rows that begin at p; result i is word i of all lanes.
func (e *emitter) loadPacked(p ll.Val, align int) []ll.Val {
	var halves [2][packedRow]ll.Val
	for h := range halves {
		var q square
		for j := range q.x {
			q.x[j] = e.Load(ll.Vec(tileRows, "i32"), e.at(p, 512*h+64*j), align)
			for place := range tileRows {
				q.where[j][place] = cell{2*j + place/packedRow, place % packedRow}
			}
		}
		e.exchangeBits(&q, 2, 2, nil)
		e.exchangeBits(&q, 1, 1, nil)
		e.exchangeBits(&q, 0, 0, func(vector, place int) cell { return cell{place, vector} })
		halves[h] = q.x
	}
	out := make([]ll.Val, packedRow)
	for i := range out {
		out[i] = e.concat([]ll.Val{halves[0][i], halves[1][i]})
	}
	return out
}

// storePacked is the way back.
func (e *emitter) storePacked(words []ll.Val, p ll.Val, align int) {
	for j, x := range e.packRows(words) {
		e.Store(x, e.at(p, 64*j), align)
	}
}

// packRows turns words of all lanes into the lanes' rows, two in a vector.
func (e *emitter) packRows(words []ll.Val) (rows []ll.Val) {
	for h := range 2 {
		var q square
		for i := range q.x {
			q.x[i] = e.slice(words[i], tileRows*h, tileRows)
			for place := range tileRows {
				q.where[i][place] = cell{place, i}
			}
		}
		e.exchangeBits(&q, 2, 3, nil)
		e.exchangeBits(&q, 1, 2, nil)
		e.exchangeBits(&q, 0, 1, func(vector, place int) cell { return cell{2*vector + place/packedRow, place % packedRow} })
		rows = append(rows, q.x[:]...)
	}
	return rows
}
