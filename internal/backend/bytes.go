package backend

import (
	"errors"
	"strconv"
	"strings"
)

// ParseBytes reads a number of bytes, as KUDZU_MEMORY has it, with an optional K, M, G or T (powers of 1024).
func ParseBytes(s string) (uint64, error) {
	digits := strings.TrimRight(strings.ToUpper(s), "IB")
	shift := 0
	if i := strings.IndexAny(digits, "KMGT"); i >= 0 {
		if i != len(digits)-1 {
			return 0, errors.New("not a number of bytes, such as 8G or 512M")
		}
		shift = 10 * (1 + strings.IndexByte("KMGT", digits[i]))
		digits = digits[:i]
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, errors.New("not a number of bytes, such as 8G or 512M")
	}
	if n > 1<<50>>shift || n<<shift < 16<<20 {
		return 0, errors.New("must be between 16M and 1024T")
	}
	return n << shift, nil
}
