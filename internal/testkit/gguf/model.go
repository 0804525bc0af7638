// Package gguf writes models for tests: files in llama.cpp's format with random weights in any of its quantisations, a
// synthetic vocabulary and real shapes. A seed gives the same bytes everywhere.
package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Shape is a llama model's size.
type Shape struct {
	Name                                 string
	Vocab, Embed, Layers, Heads, KVHeads int
	FeedForward, Context                 int
	Mix                                  string // "M": more exact types for the matrices that matter most, as Q4_K_M
}

// Shapes are the ones tests use: one that any machine runs in a blink, and TinyLlama's.
var Shapes = map[string]Shape{
	"15M":  {Name: "15M", Vocab: 32000, Embed: 256, Layers: 6, Heads: 4, KVHeads: 2, FeedForward: 768, Context: 2048},
	"1.1B": {Name: "1.1B", Vocab: 32000, Embed: 2048, Layers: 22, Heads: 32, KVHeads: 4, FeedForward: 5632, Context: 2048},
}

type tensor struct {
	name string
	dims []int
	q    *Quant
}

func (t *tensor) count() int {
	n := 1
	for _, d := range t.dims {
		n *= d
	}
	return n
}

func (t *tensor) bytes() int { return t.count() / t.q.Weights * t.q.Bytes }

// tensors lists a model's, in the order of the file. Vectors and, where rows do not divide into blocks, matrices are f32.
func tensors(s Shape, q *Quant) []tensor {
	f32, _ := ByName("F32")
	better := q
	if s.Mix == "M" {
		better, _ = ByName("Q6_K")
	}
	matrix := func(name string, cols, rows int, q *Quant) tensor {
		if cols%q.Weights != 0 {
			q = f32
		}
		return tensor{name, []int{cols, rows}, q}
	}
	kv := s.Embed / s.Heads * s.KVHeads
	list := []tensor{matrix("token_embd.weight", s.Embed, s.Vocab, q)}
	for i := range s.Layers {
		p := fmt.Sprintf("blk.%d.", i)
		more := q
		if i < s.Layers/8 || i >= 7*s.Layers/8 || (i-s.Layers/8)%3 == 2 {
			more = better
		}
		list = append(list,
			tensor{p + "attn_norm.weight", []int{s.Embed}, f32},
			matrix(p+"attn_q.weight", s.Embed, s.Embed, q), matrix(p+"attn_k.weight", s.Embed, kv, q),
			matrix(p+"attn_v.weight", s.Embed, kv, more), matrix(p+"attn_output.weight", s.Embed, s.Embed, q),
			tensor{p + "ffn_norm.weight", []int{s.Embed}, f32},
			matrix(p+"ffn_gate.weight", s.Embed, s.FeedForward, q), matrix(p+"ffn_up.weight", s.Embed, s.FeedForward, q),
			matrix(p+"ffn_down.weight", s.FeedForward, s.Embed, more))
	}
	return append(list, tensor{"output_norm.weight", []int{s.Embed}, f32}, matrix("output.weight", s.Embed, s.Vocab, better))
}

const alignment = 32

// Write writes a model.
func Write(out io.Writer, s Shape, q *Quant, seed uint64) error {
	list := tensors(s, q)
	w := &writer{w: bufio.NewWriterSize(out, 1<<20)}
	w.raw([]byte("GGUF"))
	w.u32(3)
	w.u64(uint64(len(list)))
	meta := metadata(s, q)
	w.u64(uint64(len(meta)))
	for _, m := range meta {
		w.str(m.key)
		w.value(m.value)
	}
	at := 0
	for i := range list {
		t := &list[i]
		w.str(t.name)
		w.u32(uint32(len(t.dims)))
		for _, d := range t.dims {
			w.u64(uint64(d))
		}
		w.u32(t.q.ID)
		w.u64(uint64(at))
		at += roundUp(t.bytes())
	}
	w.pad()
	for i := range list {
		w.tensor(&list[i], &rng{s: seed ^ uint64(i+1)*0x2545f4914f6cdd1d})
	}
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
}

func roundUp(n int) int { return (n + alignment - 1) / alignment * alignment }

type entry struct {
	key   string
	value any
}

func metadata(s Shape, q *Quant) []entry {
	tokens, scores, types := vocabulary(s.Vocab)
	return []entry{
		{"general.architecture", "llama"},
		{"general.name", "random " + s.Name + " " + q.Name},
		{"general.file_type", q.FileID},
		{"general.alignment", uint32(alignment)},
		{"llama.vocab_size", uint32(s.Vocab)},
		{"llama.context_length", uint32(s.Context)},
		{"llama.embedding_length", uint32(s.Embed)},
		{"llama.block_count", uint32(s.Layers)},
		{"llama.feed_forward_length", uint32(s.FeedForward)},
		{"llama.attention.head_count", uint32(s.Heads)},
		{"llama.attention.head_count_kv", uint32(s.KVHeads)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
		{"llama.rope.dimension_count", uint32(s.Embed / s.Heads)},
		{"tokenizer.ggml.model", "llama"},
		{"tokenizer.ggml.tokens", tokens},
		{"tokenizer.ggml.scores", scores},
		{"tokenizer.ggml.token_type", types},
		{"tokenizer.ggml.bos_token_id", uint32(1)},
		{"tokenizer.ggml.eos_token_id", uint32(2)},
		{"tokenizer.ggml.unknown_token_id", uint32(0)},
	}
}

// vocabulary is three special tokens, the 256 bytes, and made-up words.
func vocabulary(n int) (tokens []string, scores []float32, types []int32) {
	const normal, unknown, control, single = 1, 2, 3, 6
	add := func(s string, score float32, kind int32) {
		tokens, scores, types = append(tokens, s), append(scores, score), append(types, kind)
	}
	add("<unk>", 0, unknown)
	add("<s>", 0, control)
	add("</s>", 0, control)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), 0, single)
	}
	for c := 'a'; c <= 'z'; c++ {
		add(string(c), -1e4, normal)
	}
	add("\u2581", -1e4, normal) // the mark of a word's beginning
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	for i := 0; len(tokens) < n; i++ {
		word := "\u2581"
		for k := i + len(consonants)*len(vowels); k > 0; k /= len(consonants) * len(vowels) {
			word += string(consonants[k%len(consonants)]) + string(vowels[k/len(consonants)%len(vowels)])
		}
		add(word, -float32(i), normal)
	}
	return tokens, scores, types
}

// writer remembers its first error and where it is.
type writer struct {
	w   *bufio.Writer
	at  int
	err error
}

func (w *writer) raw(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
	w.at += len(b)
}

func (w *writer) u32(v uint32) { w.raw(binary.LittleEndian.AppendUint32(nil, v)) }
func (w *writer) u64(v uint64) { w.raw(binary.LittleEndian.AppendUint64(nil, v)) }

func (w *writer) str(s string) {
	w.u64(uint64(len(s)))
	w.raw([]byte(s))
}

func (w *writer) pad() { w.raw(make([]byte, roundUp(w.at)-w.at)) }

// value writes a metadata value with its type's number before it.
func (w *writer) value(v any) {
	switch v := v.(type) {
	case uint32:
		w.u32(4)
		w.u32(v)
	case float32:
		w.u32(6)
		w.u32(math.Float32bits(v))
	case string:
		w.u32(8)
		w.str(v)
	case []string:
		w.array(8, len(v), func(i int) { w.str(v[i]) })
	case []float32:
		w.array(6, len(v), func(i int) { w.u32(math.Float32bits(v[i])) })
	case []int32:
		w.array(5, len(v), func(i int) { w.u32(uint32(v[i])) })
	default:
		panic(fmt.Sprintf("BUG: metadata of type %T", v))
	}
}

func (w *writer) array(kind uint32, n int, item func(int)) {
	w.u32(9)
	w.u32(kind)
	w.u64(uint64(n))
	for i := range n {
		item(i)
	}
}

// tensor writes weights row by row: a large matrix never lies in memory as a whole. Vectors are ones: they scale.
func (w *writer) tensor(t *tensor, r *rng) {
	if len(t.dims) == 1 {
		for range t.dims[0] {
			w.u32(math.Float32bits(1))
		}
		w.pad()
		return
	}
	row := make([]byte, t.dims[0]/t.q.Weights*t.q.Bytes)
	for range t.dims[1] {
		t.q.fill(row, t.dims[0], r)
		w.raw(row)
	}
	w.pad()
}
