package nn

import (
	"slices"

	"kudzu/internal/shim"
)

var ctcKernels = module("CTC loss", "ctc")

// CTC is connectionist temporal classification of a batch: X and the gradient are [time, batch, letters], of one type.
type CTC struct {
	X, Grad Tensor // without an address of Grad there is no gradient
	Costs   uint64 // one a sample, of X's type
	Softmax bool   // X is not normalized; otherwise it is probabilities
	Skip    bool   // the gradient outside of a sample always stays as it is; otherwise it is 0 where a label takes all of the time
	Longest int64  // label

	// On the device: the labels of all samples one behind another, their lengths, those of the samples.
	Labels, LabelLengths, Lengths uint64
	// Or on the host, if not nil.
	HostLabels, HostLabelLengths, HostLengths []int64
}

func (c *CTC) states() int64 { return 2*c.Longest + 1 }

// Workspace is the memory that it takes.
func (c *CTC) Workspace() int64 {
	g := region{}
	c.lay(&g)
	return g.used()
}

// lay places normalizers, sums of paths, and what comes from the host.
func (c *CTC) lay(g *region) (lse, alpha, beta, words uint64) {
	rows := c.X.Dim[0] * c.X.Dim[1]
	lse, alpha, beta = g.take(8*rows), g.take(8*rows*c.states()), g.take(8*rows*c.states())
	return lse, alpha, beta, g.take(4 * (c.Longest + 2) * c.X.Dim[1])
}

// CTC computes the loss of every sample, and the gradient of X. A label that does not fit has no loss.
func (r *Run) CTC(c CTC) error {
	if c.X.Check() != nil || len(c.X.Dim) != 3 || c.Grad.Addr != 0 && (!SameShape(c.X, c.Grad) || c.Grad.Type != c.X.Type) {
		return ErrShape
	}
	if !slices.Contains([]Elem{F32, F64}, c.X.Type) {
		return ErrUnsupported
	}
	at, done, err := r.scratch(c.Workspace())
	if err != nil {
		return err
	}
	defer done()
	g := region{at, at}
	lse, alpha, beta, words := c.lay(&g)
	if c.HostLabels != nil {
		c.LabelLengths, c.Lengths = words, words+uint64(4*len(c.HostLabelLengths))
		c.Labels = c.Lengths + uint64(4*len(c.HostLengths))
		if err := r.words(words, slices.Concat(c.HostLabelLengths, c.HostLengths, c.HostLabels)); err != nil {
			return err
		}
	}
	rows := c.X.Dim[0] * c.X.Dim[1]
	var q shim.Params
	q.U64(uint64(c.X.Dim[0]), uint64(c.X.Dim[1]), uint64(c.X.Dim[2]), uint64(c.states()))
	putStrided(&q, c.X)
	putStrided(&q, c.Grad)
	q.U64(c.Labels, c.LabelLengths, c.Lengths, c.Costs, lse, alpha, beta)
	q.U32(uint32(c.X.Type), flag(c.Softmax), flag(c.Skip), flag(c.Grad.Addr != 0))
	if c.Softmax {
		if err := r.launch(ctcKernels, "ctcNormalize", spread(rows), oneWarp, &q); err != nil {
			return err
		}
	}
	if err := r.launch(ctcKernels, "ctcLoss", spread(c.X.Dim[1]), oneWarp, &q); err != nil || c.Grad.Addr == 0 {
		return err
	}
	return r.launch(ctcKernels, "ctcGradient", spread(rows), oneWarp, &q)
}
