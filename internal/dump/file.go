package dump

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kudzu/internal/backend"
	"kudzu/internal/quota"
)

// Write makes the file. It appears under its name when it is complete; with exclusive, an older one of that name is an error
// (fs.ErrExist).
func (f *File) Write(path string, exclusive bool) (err error) {
	t, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if e := os.Remove(t.Name()); err == nil && e != nil && exclusive {
			err = e
		}
	}()
	w := bufio.NewWriterSize(t, 1<<20)
	err = errors.Join(f.Encode(w), w.Flush(), t.Chmod(0o644), t.Close())
	if err != nil {
		return err
	}
	if exclusive {
		return os.Link(t.Name(), path)
	}
	return os.Rename(t.Name(), path)
}

// Encode writes the archive.
func (f *File) Encode(w io.Writer) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	put := func(name string, b []byte) error {
		e, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = e.Write(b)
		}
		return err
	}
	f.Version = Version
	for i := range f.Regions {
		f.Regions[i].Changed = !bytes.Equal(f.Before[i], f.After[i])
	}
	text, err := json.MarshalIndent(&f.Launch, "", "\t")
	if err != nil {
		return err
	}
	var textures bytes.Buffer
	if err := binary.Write(&textures, binary.LittleEndian, f.Textures); err != nil {
		return err
	}
	err = errors.Join(put("launch.json", text), put("kernel.ptx", []byte(f.PTX)), put("params", f.Values), put("textures", textures.Bytes()))
	for i := range f.Regions {
		if err != nil {
			return err
		}
		err = put(fmt.Sprintf("before/%d", i), f.Before[i])
		if err == nil && f.Regions[i].Changed {
			err = put(fmt.Sprintf("after/%d", i), f.After[i])
		}
	}
	return errors.Join(err, z.Close())
}

// DefaultLimit is the memory that a file may describe where nobody says otherwise: a quarter of what this process may use. Replay has it
// three times: before and after the launch, and where the kernel runs.
func DefaultLimit() uint64 {
	const unknown = 4 << 30
	return cmp.Or(quota.Own.Memory(), 4*unknown) / 4
}

// Open reads a file with at most limit bytes of memory, twice (before and after).
func Open(path string, limit uint64) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	st, err := r.Stat()
	if err != nil {
		return nil, err
	}
	f, err := Read(r, st.Size(), limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// deflated is how many bytes one in the archive becomes at most.
const deflated = 1032

// Read reads the archive.
func Read(r io.ReaderAt, size int64, limit uint64) (*File, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("not a dump: %w", err)
	}
	parts := map[string]*zip.File{}
	for _, e := range z.File {
		if parts[e.Name] != nil {
			return nil, fmt.Errorf("two parts called %.40q", e.Name)
		}
		parts[e.Name] = e
	}
	// get reads a part of at most so many bytes; exactly so many if they are known.
	get := func(name string, most uint64, exact bool) ([]byte, error) {
		e := parts[name]
		if e == nil {
			return nil, fmt.Errorf("no %s", name)
		}
		if e.UncompressedSize64 > most || exact && e.UncompressedSize64 != most {
			return nil, fmt.Errorf("%s: %d bytes", name, e.UncompressedSize64)
		}
		in, err := e.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer in.Close()
		// The header says how much it is. Memory is taken only for what the bytes in the file can become, and no more than that.
		if e.CompressedSize64 > uint64(size) || e.UncompressedSize64 > deflated*(e.CompressedSize64+1) {
			return nil, fmt.Errorf("%s: %d bytes of %d in the file", name, e.UncompressedSize64, e.CompressedSize64)
		}
		b := make([]byte, e.UncompressedSize64)
		if _, err := io.ReadFull(in, b); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if n, err := in.Read(make([]byte, 1)); n > 0 || err != io.EOF { // which is where the sum is compared
			return nil, fmt.Errorf("%s: more than %d bytes: %w", name, len(b), err)
		}
		return b, nil
	}
	text, err := get("launch.json", maxJSON, false)
	if err != nil {
		return nil, err
	}
	f := &File{}
	if err := json.Unmarshal(text, &f.Launch); err != nil {
		return nil, fmt.Errorf("launch.json: %w", err)
	}
	for _, text := range []*string{&f.Program, &f.Backend, &f.Device, &f.Fault} { // these are only shown
		*text = Plain(*text)
	}
	for i, n := range f.Notes {
		f.Notes[i] = Plain(n)
	}
	each := binary.Size(backend.Texture{})
	objects, err := get("textures", uint64(maxTextures*each), false)
	if err != nil {
		return nil, err
	}
	f.Textures = make([]backend.Texture, len(objects)/each)
	if err := binary.Read(bytes.NewReader(objects), binary.LittleEndian, f.Textures); err != nil {
		return nil, fmt.Errorf("textures: %w", err)
	}
	if err := f.check(limit); err != nil {
		return nil, err
	}
	ptx, err := get("kernel.ptx", maxText, false)
	if err != nil {
		return nil, err
	}
	f.PTX = string(ptx)
	if f.Values, err = get("params", maxParams, false); err != nil {
		return nil, err
	}
	for i := range f.Params {
		if p := &f.Params[i]; p.Offset+p.Size > len(f.Values) {
			return nil, fmt.Errorf("parameter %s: %d bytes at %d of %d", p.Name, p.Size, p.Offset, len(f.Values))
		}
	}
	f.Before, f.After = make([][]byte, len(f.Regions)), make([][]byte, len(f.Regions))
	for i := range f.Regions {
		if f.Before[i], err = get(fmt.Sprintf("before/%d", i), f.Regions[i].Size, true); err != nil {
			return nil, err
		}
		f.After[i] = f.Before[i]
		if f.Regions[i].Changed {
			if f.After[i], err = get(fmt.Sprintf("after/%d", i), f.Regions[i].Size, true); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}
