package graph

import (
	"testing"

	"kudzu/internal/spec"
	"kudzu/internal/spec/dnn"
)

// TestTable: every attribute of the API is that of one descriptor, and every descriptor has a row.
func TestTable(t *testing.T) {
	api, err := spec.Load("cudnn")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Attr]Kind{}
	for _, table := range []map[Kind][]row{settings(), operations()} {
		for k, list := range table {
			for _, r := range list {
				if other, twice := seen[r.name]; twice {
					t.Errorf("attribute %d is one of %d and %d", r.name, other, k)
				}
				seen[r.name] = k
			}
		}
	}
	for _, e := range api.Enums {
		for _, v := range e.Values {
			switch e.Name {
			case "cudnnBackendAttributeName_t":
				if _, ok := seen[Attr(v.Value)]; !ok {
					t.Errorf("%s has no row", v.Name)
				}
			case "cudnnBackendDescriptorType_t":
				if _, ok := rows(dnn.CudnnBackendDescriptorType_t(v.Value)); !ok {
					t.Errorf("%s has no attributes", v.Name)
				}
			}
		}
	}
}
