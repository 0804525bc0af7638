package roster

import (
	"strconv"
	"strings"
)

// Processors are the numbers of the processors that are there.
func Processors() []int { return numbers(text("/sys/devices/system/cpu/online")) }

// Nodes are the numbers of the NUMA nodes that have memory.
func Nodes() []int { return numbers(text("/sys/devices/system/node/has_memory")) }

// numbers reads a list such as 0-3,8.
func numbers(list string) []int {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		first, last, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			return all
		}
		b := a
		if ranged {
			if b, err = strconv.Atoi(last); err != nil {
				return all
			}
		}
		for i := a; i <= b; i++ {
			all = append(all, i)
		}
	}
	return all
}
