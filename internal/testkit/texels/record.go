package texels

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// A recording is, for each job that is kept, a number that tells what the job was, and its result.

// mark is different for jobs that differ.
func (j *Job) mark() uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\n%s\n%v %v %v %v %v\n", j.Name, j.PTX(), j.Res, j.Array, j.Levels, j.Tex, j.Surface)
	if j.View != nil {
		fmt.Fprintf(h, "%v", *j.View)
	}
	_ = binary.Write(h, binary.LittleEndian, j.Words) // a hash does not fail
	_, _ = h.Write(j.Data)
	return h.Sum32()
}

// Pack makes a recording of what record.c wrote about all jobs.
func Pack(jobs []*Job, results []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		n := j.ResultSize()
		if len(results) < n {
			return nil, fmt.Errorf("%s: the results end before it", j.Name)
		}
		if !j.Probe {
			if err := binary.Write(z, binary.LittleEndian, j.mark()); err != nil {
				return nil, err
			}
			if _, err := z.Write(results[:n]); err != nil {
				return nil, err
			}
		}
		results = results[n:]
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Unpack reads a recording: the results of the kept jobs, in their order.
func Unpack(jobs []*Job, r io.Reader) (map[*Job][]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	all := map[*Job][]byte{}
	for _, j := range jobs {
		if j.Probe {
			continue
		}
		b := make([]byte, 4+j.ResultSize())
		if _, err := io.ReadFull(z, b); err != nil {
			return nil, fmt.Errorf("%s: %w", j.Name, err)
		}
		if binary.LittleEndian.Uint32(b) != j.mark() {
			return nil, fmt.Errorf("%s: the job has changed since it was recorded", j.Name)
		}
		all[j] = b[4:]
	}
	return all, nil
}
