package cudacc

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/lazyre"
)

// Static variables of the device. NVRTC keeps those that nobody reads, under their plain names, and their values are the host's to
// change. clang drops them, mangles their names, and reads a variable that no code writes as its first value. So it is shown them
// with blanks for the word static, and the PTX says afterwards that they are of one file. Constants are left as they are.

var (
	memoryWord = lazyre.New(`\b(?:__device__|__constant__|__managed__)`)
	staticWord = lazyre.New(`\bstatic\b`)
	constWord  = lazyre.New(`(?s)\bconst(?:expr)?\b(?:[^*]*$|.*\*\s*const\b)`)
	otherHead  = lazyre.New(`\b(?:template|extern|thread_local|__shared__)\b`)
	spaceHead  = lazyre.New(`(?:\bnamespace\b[\s\w:]*|\bextern\s*)$`) // before a brace of the file's level; bare has no "C"
	pointer    = lazyre.New(`^\(\s*\*+\s*(\w+)`)
	nameEnd    = lazyre.New(`(\w+)\s*$`)
)

// fileLevel says for every character of a bare text whether it is outside of all braces but those of namespaces.
func fileLevel(b string) []bool {
	level := make([]bool, len(b))
	var braces []bool // whether each is a namespace's
	depth := 0        // of those that are not
	for i := range len(b) {
		switch b[i] {
		case '{':
			space := depth == 0 && spaceHead().MatchString(b[strings.LastIndexAny(b[:i], ";{}")+1:i])
			if braces = append(braces, space); !space {
				depth++
			}
		case '}':
			if n := len(braces); n > 0 {
				if !braces[n-1] {
					depth--
				}
				braces = braces[:n-1]
			}
		}
		level[i] = depth == 0
	}
	return level
}

// Unstatic is a text without the word static at the device's variables that can change, and their names. Everything else is where it
// was.
func Unstatic(text string) (string, []string) {
	if !staticWord().MatchString(text) || !memoryWord().MatchString(text) {
		return text, nil
	}
	b := string(bare([]byte(text)))
	level := fileLevel(b)
	out := []byte(text)
	var names []string
	for _, at := range staticWord().FindAllStringIndex(b, -1) {
		begin, end := strings.LastIndexAny(b[:at[0]], ";{}")+1, len(b)
		if n := strings.IndexAny(b[at[1]:], ";=[{("); n >= 0 {
			end = at[1] + n
		}
		head, rest := b[begin:end], b[end:]
		if !level[at[0]] || !memoryWord().MatchString(head) || constWord().MatchString(head) || otherHead().MatchString(head) {
			continue
		}
		name := nameEnd().FindStringSubmatch(head)
		if strings.HasPrefix(rest, "(") {
			if name = pointer().FindStringSubmatch(rest); name == nil {
				continue // a function
			}
		}
		copy(out[at[0]:], "      ")
		if name != nil {
			names = append(names, name[1])
		}
	}
	return string(out), names
}

// ownName is the variable of one file outside of namespaces in a line of PTX, under clang's name and under its own.
var ownName = lazyre.New(`(?m)^\.(?:global|const)\b[^\n=;\[]*\s(_ZL(\d+)([A-Za-z_]\w*))(?:\[|;| =)`)

// Restatic makes variables that were shown to clang otherwise those of one file again, and gives others of one file their plain names,
// in the code and in a list of names.
func Restatic(code string, statics, names []string) string {
	if len(statics) > 0 {
		slices.Sort(statics)
		re := regexp.MustCompile(`(?m)^\.visible (\.(?:global|const)\b[^\n=;\[]*\s(?:` + strings.Join(slices.Compact(statics), "|") + `)(?:\[|;| =))`)
		code = re.ReplaceAllString(code, "$1")
	}
	for _, m := range ownName().FindAllStringSubmatch(code, -1) {
		if n, err := strconv.Atoi(m[2]); err != nil || n != len(m[3]) || regexp.MustCompile(`\b`+m[3]+`\b`).MatchString(code) {
			continue // has more in its name, or the name is another's, too
		}
		code = regexp.MustCompile(`\b`+m[1]+`\b`).ReplaceAllLiteralString(code, m[3])
		for i := range names {
			if names[i] == m[1] {
				names[i] = m[3]
			}
		}
	}
	return code
}
