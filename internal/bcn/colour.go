package bcn

// colours decodes two colours of 565 bits and 16 places between them. In BC1 the order of the two tells which places there are.
func colours(b uint64, three bool, t *Texels) {
	c0, c1 := int(b&0xffff), int(b>>16&0xffff)
	three = three && c0 <= c1
	var table [4][4]uint16
	for c, shift := range [3]int{11, 5, 0} {
		colour := fiveBits
		if c == 1 {
			colour = sixBits
		}
		for place := range 4 {
			table[place][c] = colour(c0>>shift, c1>>shift, place, three)
		}
	}
	for i := range table {
		table[i][3] = 255
	}
	if three {
		table[3] = [4]uint16{}
	}
	for i := range t {
		t[i] = table[b>>(32+2*i)&3]
	}
}

// fiveBits is the colour at a place between two of five bits, in eight.
func fiveBits(e0, e1, place int, three bool) uint16 {
	e0, e1 = e0&31, e1&31
	switch {
	case place == 0:
		return uint16(e0<<3 | e0>>2)
	case place == 1:
		return uint16(e1<<3 | e1>>2)
	case three:
		return uint16((e0 + e1) * 33 >> 3)
	case place == 2:
		return uint16((2*e0 + e1) * 22 >> 3)
	}
	return uint16((e0 + 2*e1) * 22 >> 3)
}

// sixBits does so for two of six bits: they are widened first.
func sixBits(e0, e1, place int, three bool) uint16 {
	e0, e1 = e0&63, e1&63
	e0, e1 = e0<<2|e0>>4, e1<<2|e1>>4
	step := func(from, to, weight int) uint16 {
		d := to - from
		return uint16((256*from + d>>2 + 128 + d*weight) >> 8)
	}
	switch {
	case place == 0:
		return uint16(e0)
	case place == 1:
		return uint16(e1)
	case three:
		return step(e0, e1, 128)
	case place == 2:
		return step(e0, e1, 80)
	}
	return step(e1, e0, 80)
}

// between is how far a place is from the nearer of two ends, in 1/256 of the way and a little more, and which end that is.
type between struct{ end, way, more int }

// sevenths are the places 2 to 7 between two ends, fifths 2 to 5.
var (
	sevenths = [...]between{{0, 36, 3}, {0, 72, 2}, {1, 144, 1}, {0, 144, 1}, {1, 72, 2}, {1, 36, 3}}
	fifths   = [...]between{{0, 48, 3}, {0, 96, 2}, {1, 96, 2}, {1, 48, 3}}
)

// placed is where a place lies between two ends of eight bits; nil for the ends and for the extremes, which fixed has.
func placed(e [2]int, place int) *between {
	switch {
	case place < 2:
		return nil
	case e[0] > e[1]:
		return &sevenths[place-2]
	case place > 5:
		return nil
	}
	return &fifths[place-2]
}

// wide decodes two ends, which are given in 16 bits too, and 16 places between them into a channel of 16 bits.
func wide(b uint64, e [2]int, fixed [8]int, t *Texels, channel int) {
	for i := range t {
		place := int(b >> (16 + 3*i) & 7)
		v := fixed[place]
		if p := placed(e, place); p != nil {
			v = fixed[p.end] + (e[1-p.end]-e[p.end])*p.way
		}
		t[i][channel] = uint16(v)
	}
}

// fractions decodes two bytes and 16 places between them into a channel of 16 bits.
func fractions(b uint64, t *Texels, channel int) {
	e := [2]int{int(b & 0xff), int(b >> 8 & 0xff)}
	wide(b, e, [8]int{e[0] * 257, e[1] * 257, 7: 65535}, t, channel)
}

// signedFractions does so with signed bytes.
func signedFractions(b uint64, t *Texels, channel int) {
	e := [2]int{max(int(int8(b)), -127), max(int(int8(b>>8)), -127)}
	full := func(v int) int {
		if v < 0 {
			return v*258 - -v>>6
		}
		return v*258 + v>>6
	}
	wide(b, e, [8]int{full(e[0]), full(e[1]), 6: -32767, 7: 32767}, t, channel)
}

// ramp decodes two bytes and 16 places between them into a channel of 8 bits.
func ramp(b uint64, t *Texels, channel int) {
	e := [2]int{int(b & 0xff), int(b >> 8 & 0xff)}
	fixed := [8]int{e[0], e[1], 7: 255}
	for i := range t {
		place := int(b >> (16 + 3*i) & 7)
		v := fixed[place]
		if p := placed(e, place); p != nil {
			d := e[1-p.end] - e[p.end]
			v = (256*e[p.end] + d>>p.more + 128 + d*p.way) >> 8
		}
		t[i][channel] = uint16(v)
	}
}
