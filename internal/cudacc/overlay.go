package cudacc

import (
	"encoding/json"
	"fmt"
	"os"
)

// Overlay shows clang other texts under the names of files. It is written anew whenever a text changes: a clang that runs keeps its own.
type Overlay struct {
	Base  string // begins the names of the files that hold it
	texts map[string][]byte
	names []string // in the order in which they came
	round int
}

// overlayFile is a file of an overlay as clang reads it: what it finds under the name is in another file.
type overlayFile struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Contents string `json:"external-contents"`
}

// Read is a file as clang sees it.
func (o *Overlay) Read(path string) ([]byte, error) {
	if text, ok := o.texts[path]; ok {
		return text, nil
	}
	return os.ReadFile(path)
}

// Show makes a text what clang sees under a name.
func (o *Overlay) Show(path string, text []byte) {
	if o.texts == nil {
		o.texts = map[string][]byte{}
	}
	if _, ok := o.texts[path]; !ok {
		o.names = append(o.names, path)
	}
	o.texts[path] = text
}

// Write writes the overlay. It is the file to name to clang, "" if the overlay is empty.
func (o *Overlay) Write() (string, error) {
	if len(o.names) == 0 {
		return "", nil
	}
	o.round++
	list := fmt.Sprintf("%s.%d", o.Base, o.round)
	var files []overlayFile
	for i, path := range o.names {
		contents := fmt.Sprintf("%s.%d", list, i)
		if err := os.WriteFile(contents, o.texts[path], 0o600); err != nil {
			return "", err
		}
		files = append(files, overlayFile{"file", path, contents})
	}
	text, err := json.Marshal(map[string]any{"version": 0, "use-external-names": false, "roots": files})
	if err != nil {
		return "", err
	}
	return list, os.WriteFile(list, text, 0o600)
}
