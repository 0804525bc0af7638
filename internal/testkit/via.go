package testkit

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"kudzu/internal/compile"
)

// A machine with a GPU may have no LLVM: modules are translated elsewhere, into a folder, and carried there.

// Folder is cuda.Config.Through from a folder of translations; nil without one.
func Folder(dir string) func(text, target string) (string, error) {
	if dir == "" {
		return nil
	}
	return func(text, target string) (string, error) {
		b, err := os.ReadFile(filepath.Join(dir, translation(text, target)))
		return string(b), err
	}
}

// translation is the name of a module's file.
func translation(text, target string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(target+"\n"+text)))[:32] + ".ptx"
}

// Translate puts a module into such a folder; run is the compiler.
func Translate(run func(*compile.Request) (*compile.Result, error), dir, text, target string) error {
	t, ok := compile.GPUTarget(target)
	if !ok {
		return fmt.Errorf("target %s is no GPU", target)
	}
	r, err := run(&compile.Request{PTX: text, Target: t})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, translation(text, target)), r.Image, 0o644)
}
