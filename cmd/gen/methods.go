package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

// sources is a type checker for our own packages that looks at declarations only. What
// comes from outside the module is left unresolved: no such type appears in a method that
// fits a row. So it needs no build, no network and no finished package.
type sources struct {
	root  string
	fset  *token.FileSet
	files map[string][]byte // generated in this run, before what lies on disk
	done  map[string]*types.Package
}

const module = "kudzu"

// Import implements types.Importer.
func (s *sources) Import(path string) (*types.Package, error) {
	if p := s.done[path]; p != nil {
		return p, nil
	}
	rel, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
		p.MarkComplete()
		s.done[path] = p
		return p, nil
	}
	files, err := s.parse(rel)
	if err != nil {
		return nil, err
	}
	conf := types.Config{Importer: s, IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}}
	p, _ := conf.Check(path, s.fset, files, nil) // unresolved outside types are expected
	s.done[path] = p
	return p, nil
}

// parse reads the files of a package, rel being its folder. Generated ones are taken from
// this run, so that it does not matter whether they are on disk.
func (s *sources) parse(rel string) ([]*ast.File, error) {
	dir := filepath.Join(s.root, rel)
	names := map[string]any{}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for _, e := range entries {
		if ok, err := build.Default.MatchFile(dir, e.Name()); err == nil && ok {
			names[e.Name()] = nil
		}
	}
	for path, text := range s.files {
		if filepath.Dir(path) == rel {
			names[filepath.Base(path)] = text
		}
	}
	var files []*ast.File
	for _, name := range sortedKeys(names) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(s.fset, filepath.Join(dir, name), names[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", dir)
	}
	return files, nil
}

// methods returns the exported methods of *typ in a package of ours; none if it does not exist.
func (s *sources) methods(path, typ string) (map[string]*types.Func, error) {
	rel := strings.TrimPrefix(path, module+"/")
	here := false
	for file := range s.files {
		here = here || filepath.Dir(file) == rel
	}
	if _, err := os.Stat(filepath.Join(s.root, rel)); os.IsNotExist(err) && !here {
		return nil, nil
	}
	p, err := s.Import(path)
	if err != nil {
		return nil, err
	}
	obj, ok := p.Scope().Lookup(typ).(*types.TypeName)
	if !ok {
		return nil, fmt.Errorf("package %s has no type %s", path, typ)
	}
	ms := types.NewMethodSet(types.NewPointer(obj.Type()))
	out := map[string]*types.Func{}
	for i := range ms.Len() {
		if f, ok := ms.At(i).Obj().(*types.Func); ok && f.Exported() {
			out[f.Name()] = f
		}
	}
	return out, nil
}
