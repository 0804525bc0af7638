// Package lazyre has regular expressions that are compiled when they are first used. What a package of the image compiles in its
// initialisation, every process that loads the driver waits for.
package lazyre

import (
	"regexp"
	"sync"
)

// Expression gives a regular expression, compiled at the first call.
type Expression func() *regexp.Regexp

// New is for the variables of a package. A text that is no regular expression panics at the first use.
func New(text string) Expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
