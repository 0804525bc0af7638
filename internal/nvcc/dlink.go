package nvcc

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kudzu/internal/assemble"
	"kudzu/internal/cubin"
	"kudzu/internal/fatbin"
	"kudzu/internal/ptx"
)

// unit is a host object with device code that is to be linked.
type unit struct {
	name  string // for messages
	id    string // what its registration is called after
	boxes []*fatbin.Container
}

// The names in objects. clang calls the function that a device link defines, and gives the wrapper of its fat binary a name that brings
// the object out of an archive.
const (
	registerName = "__cudaRegisterLinkedBinary"
	wrapperName  = "__fatbinwrap"
	relocatable  = "__nv_relfatbin"
)

// deviceLink links the device code of objects and makes an object that registers it, or a file of device code; "" for a file of its
// own. The result is "" if there is nothing to link.
func (b *build) deviceLink(objects []string, out string) (string, error) {
	if out == "" {
		out = b.between("a_dlink.o")
	}
	if !b.say("nvlink", append(slices.Clone(objects), "-o", out)...) {
		return out, nil
	}
	units, bare, err := b.units(objects)
	if err != nil {
		return "", err
	}
	if len(units) == 0 && len(bare) == 0 && b.phase != optDeviceLink {
		return "", nil
	}
	var texts []string
	for _, c := range b.codes {
		f, err := b.linkFor(units, bare, c)
		if err != nil {
			return "", err
		}
		if f == nil {
			continue
		}
		if b.linked == optCubin {
			data, err := f.Encode()
			if err != nil {
				return "", err
			}
			return out, write(out, data)
		}
		texts = append(texts, f.Text)
	}
	data, err := container(texts)
	if err != nil {
		return "", err
	}
	if b.linked == optFatbin {
		return out, write(out, data)
	}
	box := b.between(stem(out) + ".fatbin")
	source := b.between(stem(out) + ".c")
	if err := errors.Join(write(box, data), write(source, []byte(registration(units, box)))); err != nil {
		return "", err
	}
	args := append(b.hostOptions(), "-x", "c", "-O1", "-fPIC", "-c", "-o", out, source)
	return out, b.start(b.host, args...)
}

// units finds the device code that is to be linked, in objects and in archives, and files that are nothing else (bare). What another
// device link has registered already is left.
func (b *build) units(objects []string) (units []unit, bare []string, err error) {
	done := map[string]bool{}
	add := func(name string, data []byte) error {
		u, registers, err := readObject(name, data)
		for _, id := range registers {
			done[id] = true
		}
		if u != nil && !slices.ContainsFunc(units, func(v unit) bool { return v.id == u.id }) {
			units = append(units, *u)
		}
		return err
	}
	for _, path := range objects {
		if name, ok := strings.CutPrefix(path, "-l"); ok {
			if path = b.findLibrary(name); path == "" {
				continue
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, fatalf("Could not open input file '%s'", path)
		}
		switch kinds[filepath.Ext(path)] {
		case "ptx", "cubin", "fatbin":
			bare = append(bare, path)
			continue
		}
		switch fatbin.Sniff(data) {
		case fatbin.FormatELF:
			err = add(path, data)
		case fatbin.FormatArchive:
			members, _ := fatbin.Members(data) // one without members
			for _, m := range members {
				if fatbin.Sniff(m.Data) == fatbin.FormatELF && err == nil {
					err = add(path+":"+m.Name, m.Data)
				}
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	units = slices.DeleteFunc(units, func(u unit) bool { return done[u.id] })
	return units, bare, nil
}

// findLibrary finds an archive as the linker does.
func (b *build) findLibrary(name string) string {
	for _, dir := range b.set[optLibPath] {
		if exists(filepath.Join(dir, "lib"+name+".so")) {
			return ""
		}
		if path := filepath.Join(dir, "lib"+name+".a"); exists(path) {
			return path
		}
	}
	return ""
}

// readObject finds what a host object has for the device linker: code, and what registers code of others.
func readObject(name string, data []byte) (u *unit, registers []string, err error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil || f.Type != elf.ET_REL {
		return nil, nil, nil // a shared library is linked already
	}
	symbols, _ := f.Symbols() // an object without any has none of ours
	id := ""
	for _, s := range symbols {
		defined := s.Section != elf.SHN_UNDEF
		if rest, ok := strings.CutPrefix(s.Name, registerName); ok && defined {
			registers = append(registers, rest)
		}
		if rest, ok := strings.CutPrefix(s.Name, wrapperName); ok && defined {
			id = rest
		}
	}
	s := f.Section(relocatable)
	if s == nil || id == "" {
		return nil, registers, nil
	}
	code, err := s.Data()
	if err != nil {
		return nil, registers, fatalf("%s: %v", name, err)
	}
	boxes, err := fatbin.FromBytes(code)
	if err != nil {
		return nil, registers, fatalf("%s: %v", name, err)
	}
	return &unit{name, id, boxes}, registers, nil
}

// texts is the PTX of a file for an architecture.
func (b *build) texts(path string, c code) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fatalf("Could not open input file '%s'", path)
	}
	texts, err := assemble.TextsFor(data, machine(c))
	if err != nil || len(texts) == 0 {
		return nil, fatalf("Input file '%s': %v", path, err)
	}
	return texts, nil
}

// machine is an architecture's number.
func machine(c code) int {
	n, _ := strconv.Atoi(strings.TrimRight(c.virtual, "af")) // archs has looked at it
	return n
}

// linkFor makes one module of all units, for an architecture; nil if there is none.
func (b *build) linkFor(units []unit, bare []string, c code) (*cubin.File, error) {
	var parts []ptx.Part
	for _, path := range bare {
		texts, err := b.texts(path, c)
		if err != nil {
			return nil, err
		}
		parts = append(parts, ptx.Part{Name: "'" + path + "'", Text: texts[0]})
	}
	for _, u := range units {
		choice, err := fatbin.Choose(u.boxes, machine(c))
		if err != nil {
			return nil, fmt.Errorf("nvlink error   : %s: %w", u.name, err)
		}
		parts = append(parts, ptx.Part{Name: "'" + u.name + "'", Text: choice.Own()})
	}
	if len(parts) == 0 {
		return nil, nil
	}
	text, err := assemble.Link(parts)
	if err != nil {
		return nil, fmt.Errorf("nvlink error   : %w", err)
	}
	target := c.virtual
	if b.linked == optCubin && len(c.real) > 0 {
		target = c.real[len(c.real)-1]
	}
	number := strings.TrimRight(target, "af")
	sm, _ := strconv.Atoi(number) // archs has looked at it
	f, err := assemble.Text(text, assemble.Options{SM: sm, Suffix: target[len(number):]})
	var missing assemble.Missing
	if errors.As(err, &missing) {
		return nil, fmt.Errorf("nvlink error   : Undefined reference to '%s' in %s", string(missing), assemble.User(parts, string(missing)))
	}
	if err != nil {
		return nil, fmt.Errorf("nvlink error   : %w", err)
	}
	return f, nil
}

// registration is C that registers the linked code once all units have called, each for its kernels and variables.
func registration(units []unit, box string) string {
	var s strings.Builder
	fmt.Fprintf(&s, `extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern int atexit(void (*)(void));
__asm__(".section .nv_fatbin,\"a\"\n.balign 8\n.local kudzu_linked\nkudzu_linked:\n.incbin %s\n.balign 8\n.previous");
extern const char kudzu_linked[] __attribute__((visibility("hidden")));
static const struct { int magic, version; const void *data; void *rest; } wrapper
    __attribute__((section(".nvFatBinSegment"), aligned(8), used)) = {0x466243b1, 1, kudzu_linked, 0};
enum { count = %d };
static void (*calls[count + 1])(void **);
static int come;
static void **handle;
static void leave(void) { __cudaUnregisterFatBinary(handle); }
__attribute__((unused)) static void enter(void (*call)(void **)) {
	if (come == count) return;
	calls[come++] = call;
	if (come < count) return;
	handle = __cudaRegisterFatBinary((void *)&wrapper);
	for (int i = 0; i < count; i++) calls[i](handle);
	__cudaRegisterFatBinaryEnd(handle);
	atexit(leave);
}
`, strconv.Quote(strconv.Quote(box))[1:len(strconv.Quote(strconv.Quote(box)))-1], len(units))
	for _, u := range units {
		fmt.Fprintf(&s, "extern const char %[1]s%[2]s[]; // brings the object out of its archive\nconst void *const kudzu_pull%[2]s __attribute__((visibility(\"hidden\"))) = %[1]s%[2]s;\n", wrapperName, u.id)
		fmt.Fprintf(&s, "void %s%s(void (*call)(void **), void *w, void *id, void (*ready)(void *)) { (void)w, (void)id, (void)ready; enter(call); }\n", registerName, u.id)
	}
	return s.String()
}
