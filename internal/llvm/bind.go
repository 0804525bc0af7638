package llvm

import (
	"fmt"
	"reflect"

	"github.com/ebitengine/purego"
)

// bindAll fills every field of a structure with the library's function of that name.
func bindAll(f any, h uintptr) error {
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("name")
		if name == "" {
			name = "LLVM" + field.Name
		}
		sym, err := purego.Dlsym(h, name)
		if err != nil {
			return fmt.Errorf("no function %s in it", name)
		}
		purego.RegisterFunc(v.Field(i).Addr().Interface(), sym)
	}
	return nil
}
