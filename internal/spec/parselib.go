package spec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// library reads the row of what offers an interface: one shared object, or one for each of several major versions.
func (p *parser) library(rest string) error {
	head, _, x, err := marks(strings.Fields(rest))
	if err != nil || len(head) != 1 {
		return errors.Join(err, fmt.Errorf("library row %q", rest))
	}
	if p.api.Answered != nil {
		return fmt.Errorf("library %s: an interface has one library row", head[0])
	}
	a := &Answered{Package: x["package"], Room: x["room"], Header: x["header"], Macro: x["macro"], Prefix: x["prefix"], Status: x["status"], Also: x["also"],
		Null: -1, LastError: x["lasterror"] != "", Plain: x["plain"] != ""}
	lib := Library{Soname: head[0], Key: x["key"]}
	if err := lib.answers(x, 0); err != nil {
		return err
	}
	if x["null"] != "" {
		if a.Null, err = strconv.Atoi(x["null"]); err != nil {
			return fmt.Errorf("null of %s: %w", lib.Soname, err)
		}
	}
	for dst, usual := range map[*string]string{&lib.Key: p.api.Name, &a.Room: "shim/" + p.api.Name, &a.Header: p.api.Name + ".h", &a.Macro: "CUDART_VERSION"} {
		if *dst == "" {
			*dst = usual
		}
	}
	if a.Prefix == "" {
		a.Prefix = lib.Key
	}
	if x["releases"] != "" {
		for _, r := range strings.Split(x["releases"], ",") {
			v, err := version(r)
			if err != nil {
				return fmt.Errorf("releases of %s: %w", lib.Soname, err)
			}
			a.Releases = append(a.Releases, v)
		}
	}
	p.api.Answered = a
	if x["versions"] == "" {
		p.api.Libraries = append(p.api.Libraries, lib)
		return nil
	}
	for i, v := range strings.Split(x["versions"], ",") {
		of := lib
		if err := of.answers(x, i); err != nil {
			return err
		}
		major, _, _ := strings.Cut(v, ".")
		if of.Major, err = strconv.Atoi(major); err != nil {
			return fmt.Errorf("version %s of %s: %w", v, lib.Soname, err)
		}
		of.Soname += "." + v
		of.Key, of.Node = lib.Key+major, of.Soname
		of.parts(x["parts"], v)
		p.api.Libraries = append(p.api.Libraries, of)
	}
	return nil
}

// answers reads the codes that are answered without a method: one, or one for each version.
func (l *Library) answers(x map[string]string, i int) (err error) {
	for word, dst := range map[string]*int{"unsupported": &l.Unsupported, "child": &l.Child, "exit": &l.Exit} {
		if x[word] == "" {
			continue
		}
		codes := strings.Split(x[word], ",")
		if *dst, err = strconv.Atoi(codes[min(i, len(codes)-1)]); err != nil {
			return fmt.Errorf("%s of %s: %w", word, l.Soname, err)
		}
	}
	return nil
}

// parts takes those of a version: graph.9 is libcudnn_graph.so.9 of libcudnn.so.9.
func (l *Library) parts(all, version string) {
	stem, _, _ := strings.Cut(l.Soname, ".so")
	for part := range strings.SplitSeq(all, ",") {
		if name, ok := strings.CutSuffix(part, "."+version); ok {
			l.Parts = append(l.Parts, stem+"_"+name+".so."+version)
		}
	}
}

// provider reads the row of a library that we call.
func (p *parser) provider(rest string) error {
	c := &Called{}
	for _, w := range strings.Fields(rest) {
		switch w {
		case "alike":
			c.Alike = true
		case "named":
			c.Named = true
		default:
			c.For = append(c.For, w)
		}
	}
	if len(c.For) == 0 {
		return errors.New("a provider stands in for no interface")
	}
	p.api.Called = c
	return nil
}
