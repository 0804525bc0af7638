package main

import (
	"os"
	"path/filepath"

	"kudzu/internal/config"
)

// writeSettings writes the README's section of variables, and the table as the C side reads it.
func writeSettings(w *world) error {
	text, err := os.ReadFile(filepath.Join(w.root, "README.md"))
	if err != nil {
		return err
	}
	if w.files["README.md"], err = config.InREADME(text); err != nil {
		return err
	}
	var o out
	o.header("//", "internal/config")
	o.f("// X(variable, whether it counts in programs with more rights than their user)\n#define KZ_SETTINGS(X)")
	for s := range config.All {
		secure := 0
		if s.Secure {
			secure = 1
		}
		o.f(" \\\n\tX(%s, %d)", s.Name, secure)
	}
	o.f("\n")
	w.files["c/base/zsettings.h"] = o.Bytes()
	return nil
}
