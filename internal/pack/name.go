package pack

import "strings"

// Key is what a kernel or variable is called in every build of the same source: its mangled name without what a compiler makes up
// for a build. That is the hashes in names of internal linkage (_GLOBAL__N__HASH_LENGTH_FILE_HASH_NUMBER and _INTERNAL_…; the
// file's name stays, so that two files do not become one) and the list of architectures in the inline namespaces of CUB and Thrust
// (their version stays: what another version's host code expects of a kernel is not known).
//
// In a mangled name such a part follows its length, which changes with it: a part that is replaced loses its length as well.
func Key(name string) string {
	var out strings.Builder
	rest := name
	for {
		i := nextPart(rest)
		if i < 0 {
			break
		}
		digits := i
		for digits > 0 && isDigit(rest[digits-1]) {
			digits--
		}
		part, key, ok := made(rest, digits, i)
		if !ok { // looks like one, and is not
			out.WriteString(rest[:i+1])
			rest = rest[i+1:]
			continue
		}
		out.WriteString(rest[:digits])
		out.WriteString(key)
		rest = part
	}
	if out.Len() == 0 {
		return name
	}
	out.WriteString(rest)
	return out.String()
}

// starts are what the parts begin with.
var starts = [...]string{"_GLOBAL__N__", "_INTERNAL_", "CUB_", "THRUST_"}

// nextPart is where the next part begins; -1 if there is none.
func nextPart(s string) int {
	best := -1
	for _, start := range starts {
		if i := strings.Index(s, start); i >= 0 && (best < 0 || i < best) {
			best = i
		}
	}
	return best
}

// made splits a part that starts at s[at:], with its length in digits before it: what comes after it, and what stands for it. Of
// the digits only some may be the length: the part before may end in digits, too.
func made(s string, digits, at int) (rest, key string, ok bool) {
	for ; digits < at; digits++ {
		n := 0
		for _, c := range []byte(s[digits:at]) {
			n = n*10 + int(c-'0')
			if n > len(s) {
				break
			}
		}
		if n == 0 || s[digits] == '0' || at+n > len(s) {
			continue
		}
		if key, ok := standsFor(s[at : at+n]); ok {
			return s[at+n:], key, true
		}
	}
	return "", "", false
}

// standsFor is what a part is called in every build; false if it is no such part.
func standsFor(part string) (string, bool) {
	for _, inline := range []string{"CUB_", "THRUST_"} {
		if v, ok := strings.CutPrefix(part, inline); ok {
			version, _, more := strings.Cut(v, "_")
			return "{" + inline + version + "}", more && strings.HasSuffix(v, "_NS") && isNumber(version)
		}
	}
	for _, internal := range []string{"_GLOBAL__N__", "_INTERNAL_"} {
		if v, ok := strings.CutPrefix(part, internal); ok {
			file, ok := fileOf(v)
			return "{" + internal + file + "}", ok
		}
	}
	return "", false
}

// fileOf is the name of the file in HASH_LENGTH_FILE_HASH_NUMBER.
func fileOf(v string) (string, bool) {
	hash, v, ok := strings.Cut(v, "_")
	if !ok || !isHex(hash) {
		return "", false
	}
	length, v, ok := strings.Cut(v, "_")
	n := 0
	for _, c := range []byte(length) {
		if !isDigit(c) || n > len(v) {
			return "", false
		}
		n = n*10 + int(c-'0')
	}
	if !ok || n == 0 || n > len(v) {
		return "", false
	}
	return v[:n], true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNumber(s string) bool {
	for _, c := range []byte(s) {
		if !isDigit(c) {
			return false
		}
	}
	return s != ""
}

func isHex(s string) bool {
	for _, c := range []byte(s) {
		if !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}
