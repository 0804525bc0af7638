package graph

import (
	"encoding/json"

	"kudzu/internal/spec/dnn"
)

// note is the text of descriptors that say next to nothing: a kernel cache, as kernels are cached on disk for all programs, and the
// properties of a device, on which no plan depends.
type note struct {
	Note   string
	Device int64 `json:",omitempty"`
}

var notes = map[Kind]struct {
	name string
	text Attr
}{
	KernelCache: {"kudzu cuDNN kernel cache 1", dnn.CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION},
	DeviceProp:  {"kudzu cuDNN device 1", dnn.CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION},
}

// checkNote refuses text that is not of this library.
func checkNote(k Kind, g given) error {
	v, ok := g[notes[k].text]
	if !ok {
		return nil
	}
	var n note
	if err := json.Unmarshal(v.chars, &n); err != nil || n.Note != notes[k].name {
		return fail(dnn.CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH, "text that is not of this library")
	}
	return nil
}

// noted is the text.
func (d *Descriptor) noted() (value, bool) {
	text, err := json.Marshal(note{notes[d.kind].name, given(d.values).whole(dnn.CUDNN_ATTR_DEVICEPROP_DEVICE_ID, 0)})
	return value{chars: text}, err == nil
}
