package main

import (
	"os"
	"path/filepath"

	"kudzu/internal/config"
)

// writeSettings writes the README's section of variables.
func writeSettings(w *world) error {
	text, err := os.ReadFile(filepath.Join(w.root, "README.md"))
	if err != nil {
		return err
	}
	w.files["README.md"], err = config.InREADME(text)
	return err
}
