package cudnn

// dropping is the value of a dropout descriptor.
type dropping struct {
	rate   float32
	states uint64 // on the device
	size   uint64
	seed   uint64
}

// CreateDropoutDescriptor makes one.
func (t *Thread) CreateDropoutDescriptor() (uint64, error) { return create(dropping{}) }

// DestroyDropoutDescriptor ends one.
func (t *Thread) DestroyDropoutDescriptor(h dropoutDesc) error { return destroy[dropping](h) }
