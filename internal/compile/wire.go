package compile

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Frame is what goes through the pipes between client, compiler process and workers: a kind, the number of the request
// it belongs to, a JSON head and a body of bytes (PTX one way, the image the other).
//
//	0  magic u32, kind u8, zero [3]u8
//	8  id u32, head length u32, body length u32
//	20 head, body
type Frame struct {
	Kind FrameKind
	ID   uint32
	Head []byte
	Body []byte
}

// FrameKind says what a frame is.
type FrameKind uint8

// The kinds.
const (
	FrameHello   FrameKind = 'H' // the process is ready, or says why it never will be
	FrameRequest FrameKind = 'Q'
	FrameAnswer  FrameKind = 'A'
)

const (
	frameMagic  = 0x31465a4b // "KZF1"
	frameHeader = 20
	maxHead     = 256 << 20 // emitted texts are in the head
	maxBody     = 1 << 30
	// readStep bounds what a false length can make us allocate before the bytes have come.
	readStep = 1 << 20
)

// ErrGarbage is a stream that is not ours.
var ErrGarbage = errors.New("garbage on the compiler's pipe")

// WriteFrame writes f with one Write, so that frames of several goroutines need only a lock around it.
func WriteFrame(w io.Writer, f Frame) error {
	if len(f.Head) > maxHead || len(f.Body) > maxBody {
		return fmt.Errorf("frame of %d + %d bytes is too large", len(f.Head), len(f.Body))
	}
	b := make([]byte, frameHeader, frameHeader+len(f.Head)+len(f.Body))
	le := binary.LittleEndian
	le.PutUint32(b, frameMagic)
	b[4] = byte(f.Kind)
	le.PutUint32(b[8:], f.ID)
	le.PutUint32(b[12:], uint32(len(f.Head)))
	le.PutUint32(b[16:], uint32(len(f.Body)))
	_, err := w.Write(append(append(b, f.Head...), f.Body...))
	return err
}

// ReadFrame reads one frame; io.EOF only at its beginning.
func ReadFrame(r io.Reader) (Frame, error) {
	var h [frameHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Frame{}, err
	}
	le := binary.LittleEndian
	f := Frame{Kind: FrameKind(h[4]), ID: le.Uint32(h[8:])}
	head, body := le.Uint32(h[12:]), le.Uint32(h[16:])
	known := f.Kind == FrameHello || f.Kind == FrameRequest || f.Kind == FrameAnswer
	if le.Uint32(h[:]) != frameMagic || !known || h[5]|h[6]|h[7] != 0 || head > maxHead || body > maxBody {
		return Frame{}, ErrGarbage
	}
	var err error
	if f.Head, err = readN(r, int(head)); err != nil {
		return Frame{}, err
	}
	if f.Body, err = readN(r, int(body)); err != nil {
		return Frame{}, err
	}
	return f, nil
}

func readN(r io.Reader, n int) ([]byte, error) {
	var b []byte
	for len(b) < n {
		at := len(b)
		b = append(b, make([]byte, min(n-at, max(readStep, at)))...)
		if _, err := io.ReadFull(r, b[at:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return b, nil
}

// requestHead is Request without its PTX, and what the process must know beside it.
type requestHead struct {
	Kernel    string
	Target    Target
	Block     [3]uint32
	Options   Options
	Emit      []string `json:",omitempty"`
	Dump      string   `json:",omitempty"`
	Facts     bool     `json:",omitempty"`
	Behind    bool     `json:",omitempty"` // Request.Background
	Store     *Store   `json:",omitempty"`
	NVVM      *NVVM    `json:",omitempty"`
	CUDA      *CUDA    `json:",omitempty"`
	TimeoutMS int64
}

// EncodeRequest makes the frame of a request.
func EncodeRequest(id uint32, req *Request, timeoutMS int64) (Frame, error) {
	head, err := json.Marshal(requestHead{req.Kernel, req.Target, req.Block, req.Options, req.Emit, req.Dump, req.FactsOnly, req.Background, req.Store, req.NVVM, req.CUDA, timeoutMS})
	return Frame{Kind: FrameRequest, ID: id, Head: head, Body: []byte(req.PTX)}, err
}

// DecodeRequest is EncodeRequest's inverse.
func DecodeRequest(f Frame) (req *Request, timeoutMS int64, err error) {
	var h requestHead
	if f.Kind != FrameRequest {
		return nil, 0, ErrGarbage
	}
	if err := json.Unmarshal(f.Head, &h); err != nil {
		return nil, 0, fmt.Errorf("%w: %v", ErrGarbage, err)
	}
	return &Request{string(f.Body), h.Kernel, h.Target, h.Block, h.Options, h.Emit, h.Dump, h.Behind, h.Store, h.Facts, h.NVVM, h.CUDA}, h.TimeoutMS, nil
}

// answerHead is Result without its image, or an error.
type answerHead struct {
	Err     *wireError        `json:",omitempty"`
	Emitted map[string]string `json:",omitempty"`
	Stages  []Stage           `json:",omitempty"`
	LLVM    string            `json:",omitempty"`
	Plain   string            `json:",omitempty"`
}

// EncodeAnswer makes the frame of a result or an error.
func EncodeAnswer(id uint32, r *Result, failure error) (Frame, error) {
	if failure != nil || r == nil {
		if failure == nil {
			failure = &Failed{Stage: "worker", Text: "BUG: neither a result nor an error"}
		}
		head, err := json.Marshal(answerHead{Err: toWire(failure)})
		return Frame{Kind: FrameAnswer, ID: id, Head: head}, err
	}
	head, err := json.Marshal(answerHead{Emitted: r.Emitted, Stages: r.Stages, LLVM: r.LLVM, Plain: r.Plain})
	return Frame{Kind: FrameAnswer, ID: id, Head: head, Body: r.Image}, err
}

// DecodeAnswer is EncodeAnswer's inverse: broken is a frame that is no answer, failure what the answer says.
func DecodeAnswer(f Frame) (r *Result, failure, broken error) {
	var h answerHead
	if f.Kind != FrameAnswer {
		return nil, nil, ErrGarbage
	}
	if err := json.Unmarshal(f.Head, &h); err != nil {
		return nil, nil, fmt.Errorf("%w: %v", ErrGarbage, err)
	}
	if h.Err != nil {
		return nil, h.Err.unwrap(), nil
	}
	return &Result{Image: f.Body, Emitted: h.Emitted, Stages: h.Stages, LLVM: h.LLVM, Plain: h.Plain}, nil, nil
}

// Hello is the first frame of a compiler process and of a worker.
type Hello struct {
	LLVM       string      `json:",omitempty"`
	NoCompiler *NoCompiler `json:",omitempty"`
}

// EncodeHello makes its frame.
func EncodeHello(h Hello) (Frame, error) {
	head, err := json.Marshal(h)
	return Frame{Kind: FrameHello, Head: head}, err
}

// DecodeHello is EncodeHello's inverse.
func DecodeHello(f Frame) (Hello, error) {
	var h Hello
	if f.Kind != FrameHello {
		return h, ErrGarbage
	}
	if err := json.Unmarshal(f.Head, &h); err != nil {
		return h, fmt.Errorf("%w: %v", ErrGarbage, err)
	}
	return h, nil
}
