package nvcc

import (
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/cudacc"
)

// code is one thing that is made of a source: PTX for a virtual architecture. Machine code that was asked for is that PTX too, for what
// the code is to run on translates it.
type code struct {
	virtual string   // "80", "90a": what __CUDA_ARCH__ says
	real    []string // the machines that were named; for files of our assembler
}

// archs are what -arch, -code and -gencode ask for.
func (o *options) archs(release cudacc.Release, native func() string) ([]code, error) {
	var all []code
	add := func(virtual string, machines ...string) {
		i := slices.IndexFunc(all, func(c code) bool { return c.virtual == virtual })
		if i < 0 {
			all = append(all, code{virtual: virtual})
			i = len(all) - 1
		}
		all[i].real = append(all[i].real, machines...)
	}
	if !o.has(optArch) && o.has(optCode) {
		return nil, fatal("Option '--gpu-code (-code)' needs option '--gpu-architecture (-arch)'")
	}
	if arch := o.get(optArch, ""); arch != "" {
		names := []string{arch}
		switch arch {
		case "native":
			names = []string{"sm_" + native()}
		case "all", "all-major":
			names = everyArch(release, arch == "all-major")
		}
		for _, name := range names {
			virtual, isReal, err := known(release, name)
			if err != nil {
				return nil, err
			}
			machines, err := o.codes(release, virtual, isReal)
			if err != nil {
				return nil, err
			}
			add(virtual, machines...)
		}
	}
	for _, spec := range o.set[optGencode] {
		virtual, machines, err := gencode(release, spec)
		if err != nil {
			return nil, err
		}
		add(virtual, machines...)
	}
	if len(all) == 0 {
		first := strconv.Itoa(int(release.Archs()[0]))
		add(first, first)
	}
	return all, nil
}

// codes are the machines that -code names, or the one of -arch=sm_80.
func (o *options) codes(release cudacc.Release, virtual string, isReal bool) ([]string, error) {
	if !o.has(optCode) {
		if isReal {
			return []string{virtual}, nil
		}
		return nil, nil
	}
	var machines []string
	for _, c := range o.set[optCode] {
		name, isReal, err := known(release, c)
		if err != nil {
			return nil, err
		}
		if isReal {
			machines = append(machines, name)
		}
	}
	return machines, nil
}

// gencode reads arch=compute_80,code=sm_80 and arch=compute_80,code=[sm_80,compute_80].
func gencode(release cudacc.Release, spec string) (virtual string, machines []string, err error) {
	spec = strings.NewReplacer(`"`, "", `\`, "", "'", "").Replace(spec)
	arch, rest, _ := strings.Cut(spec, ",")
	key, name, ok := strings.Cut(arch, "=")
	if !ok {
		return "", nil, fatalf("'%s' is not in 'keyword=value' format", arch)
	}
	if key != "arch" {
		return "", nil, fatalf("'%s': expected a keyword of 'arch' and 'code'", key)
	}
	virtual, isReal, err := known(release, name)
	if err != nil {
		return "", nil, err
	}
	if isReal {
		return "", nil, fatalf("Unsupported gpu architecture '%s'", name)
	}
	rest, ok = strings.CutPrefix(rest, "code=")
	if !ok {
		return "", nil, fatalf("'%s' is not in 'keyword=value' format", rest)
	}
	for c := range strings.SplitSeq(strings.Trim(rest, "[]"), ",") {
		name, isReal, err := known(release, strings.Trim(c, "[] "))
		if err != nil {
			return "", nil, err
		}
		if isReal {
			machines = append(machines, name)
		}
	}
	return virtual, machines, nil
}

// known takes a name of an architecture apart: sm_80 is a machine, compute_80 and lto_80 are not.
func known(release cudacc.Release, name string) (arch string, isReal bool, err error) {
	kind, arch, _ := strings.Cut(name, "_")
	number := strings.TrimRight(arch, "af")
	n, e := strconv.Atoi(number)
	suffix := strings.TrimPrefix(arch, number)
	if older, ok := retired(n); e == nil && ok && suffix == "" && kind != "lto" && !slices.Contains(release.Archs(), int32(n)) {
		return older, kind == "sm", nil
	}
	if e != nil || kind != "sm" && kind != "compute" && kind != "lto" || len(suffix) > 1 || !slices.Contains(release.Archs(), int32(n)) || suffix != "" && (n < 90 || n == 90 && suffix == "f") {
		return "", false, fatalf("Unsupported gpu architecture '%s'", name)
	}
	return arch, kind == "sm", nil
}

// retired are architectures that a release has given up, as makefiles still name them: what runs our code takes any PTX. The oldest that
// is written is 50, also for those before it.
func retired(n int) (arch string, ok bool) {
	switch n {
	case 20, 21, 30, 32, 35, 37:
		return "50", true
	case 50, 52, 53, 60, 61, 62, 70, 72:
		return strconv.Itoa(n), true
	}
	return "", false
}

// everyArch is what all and all-major stand for; PTX of the newest one is for what comes later.
func everyArch(release cudacc.Release, major bool) []string {
	var names []string
	for i, n := range release.Archs() {
		if !major || n%10 == 0 || i == 0 {
			names = append(names, "sm_"+strconv.Itoa(int(n)))
		}
	}
	return names
}
