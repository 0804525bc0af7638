package driver

import (
	"errors"

	"kudzu/internal/fatbin"
	"kudzu/internal/hostmem"
	"kudzu/internal/logx"
	"kudzu/internal/pack"
)

// noPTX is the error for an image that holds machine code only.
func noPTX(err error) bool {
	var b *badImage
	return errors.As(err, &b) && b.code == errNoBinary
}

// packedImage asks the packs for the machine code at an address. Which library it is of says the file that is mapped there. A
// wrapper of linked units has none: its kernels are spread over them.
func packedImage(p hostmem.Ptr) (string, bool) {
	switch fatbin.Sniff(firstBytes(p)) {
	case fatbin.FormatWrapper:
		w, err := fatbin.ParseWrapper(hostmem.Bytes(p, fatbin.WrapperSize))
		if err != nil || w.Version != 1 {
			return "", false
		}
		return packedContainer(hostmem.Ptr(w.Data))
	case fatbin.FormatFatbin:
		return packedContainer(p)
	case fatbin.FormatELF:
		n, err := fatbin.ELFSize(hostmem.Bytes(p, fatbin.ELFHeaderSize))
		if err != nil || n > fatbin.MaxText {
			return "", false
		}
		return pack.For(pack.FileAt(uint64(p)), nil, hostmem.Bytes(p, n))
	}
	return "", false
}

func packedContainer(p hostmem.Ptr) (string, bool) {
	c, err := readContainer(p)
	if err != nil {
		return "", false
	}
	return pack.For(pack.FileAt(uint64(p)), []*fatbin.Container{c}, nil)
}

// packedFile is packedImage for a file.
func packedFile(name string, b []byte) (string, bool) {
	if fatbin.Sniff(b) == fatbin.FormatELF {
		return pack.For(name, nil, b)
	}
	cs, err := fatbin.FromBytes(b)
	if err != nil {
		return "", false
	}
	return pack.For(name, cs, nil)
}

// missing is the error for a kernel that a module does not have. Where a pack has it otherwise or not at all, that is the code for code
// without an image for the device, as a GPU gives it, and once for each a line says why: some programs do not look at errors.
func missing(kernel string) error {
	if !pack.Any() {
		return errNotFound
	}
	why := pack.WhyNot(kernel)
	if why == "" {
		return errNotFound
	}
	logx.Once("refused "+kernel, "kernel %s cannot run: %s", kernel, why)
	return errNoBinary
}
