package hip

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
	"kudzu/internal/spec/rsmi"
)

// What ROCm SMI tells in structures: lists of frequencies, the bus, energy, and errors of memory.

// rates is a list of frequencies in Hz: all that there are, and which is in use, -1 if none is.
type rates struct {
	hz    []uint64
	now   int
	lanes []uint32 // of the bus
}

// rates asks a function whose last parameter is such a list.
func (s *smi) rates(f rsmi.Func, args ...uintptr) (rates, error) {
	const lanes = 4 * rsmi.RSMIFREQUENCIESR6MAX
	out := dl.Alloc(rsmi.RSMIFREQUENCIESBYTES + lanes + 64) // more than either layout, should a release add to it
	defer out.Free()
	if err := s.call(f, append(args, out.Addr())...); err != nil {
		return rates{}, err
	}
	b := out.Bytes()
	count, current, at, most, lanesAt := rsmi.RSMIFREQUENCIESR6COUNTAT, rsmi.RSMIFREQUENCIESR6CURRENTAT, rsmi.RSMIFREQUENCIESR6AT, uint32(rsmi.RSMIFREQUENCIESR6MAX), rsmi.RSMILANESR6AT
	if s.old {
		count, current, at, most, lanesAt = rsmi.RSMIFREQUENCIESR5COUNTAT, rsmi.RSMIFREQUENCIESR5CURRENTAT, rsmi.RSMIFREQUENCIESR5AT, rsmi.RSMIFREQUENCIESR5MAX, rsmi.RSMILANESR5AT
	}
	n, now := binary.LittleEndian.Uint32(b[count:]), binary.LittleEndian.Uint32(b[current:])
	if n > most || n == 0 {
		return rates{}, fmt.Errorf("%w: %d frequencies", backend.ErrNoSensor, n)
	}
	r := rates{now: -1}
	if now < n {
		r.now = int(now)
	}
	for k := range int(n) {
		r.hz = append(r.hz, binary.LittleEndian.Uint64(b[at+8*k:]))
		r.lanes = append(r.lanes, binary.LittleEndian.Uint32(b[lanesAt+4*k:]))
	}
	return r, nil
}

// pick is the number of a list that is in use, or the highest.
func pick[T uint32 | uint64](list []T, now int, highest bool) (uint64, error) {
	switch {
	case highest:
		return uint64(slices.Max(list)), nil
	case now < 0:
		return 0, fmt.Errorf("%w: none of %d frequencies is in use", backend.ErrNoSensor, len(list))
	}
	return uint64(list[now]), nil
}

// clock is in MHz.
func (s *smi) clock(i uintptr, kind uintptr, highest bool) (uint64, error) {
	r, err := s.rates(rsmi.Rsmi_dev_gpu_clk_freq_get, i, kind)
	if err != nil {
		return 0, err
	}
	hz, err := pick(r.hz, r.now, highest)
	return hz / 1e6, err
}

// link is of the bus: transfers a second and lane, in millions, or lanes.
func (s *smi) link(i uintptr, what backend.Sensor) (uint64, error) {
	r, err := s.rates(rsmi.Rsmi_dev_pci_bandwidth_get, i)
	if err != nil {
		return 0, err
	}
	if what == backend.SensorLinkWidth || what == backend.SensorLinkWidthMax {
		return pick(r.lanes, r.now, what == backend.SensorLinkWidthMax)
	}
	hz, err := pick(r.hz, r.now, what == backend.SensorLinkRateMax)
	return hz / 1e6, err
}

// energy is in millijoules; the library counts in steps that it says the size of, in microjoules.
func (s *smi) energy(i uintptr) (uint64, error) {
	out := dl.Alloc(24)
	defer out.Free()
	if err := s.call(rsmi.Rsmi_dev_energy_count_get, i, out.Addr(), out.Addr()+8, out.Addr()+16); err != nil {
		return 0, err
	}
	step := math.Float32frombits(uint32(word(out, 8)))
	if !(step > 0) {
		return 0, fmt.Errorf("%w: energy in steps of %g", backend.ErrNoSensor, step)
	}
	return uint64(float64(word(out, 0)) * float64(step) / 1000), nil
}

// ecc is whether memory corrects errors, or how many there were since the driver was loaded.
func (s *smi) ecc(i uintptr, what backend.Sensor) (uint64, error) {
	enabled, err := s.get(rsmi.Rsmi_dev_ecc_enabled_get, i)
	if err != nil {
		return 0, err
	}
	blocks := enabled & (2*rsmi.RSMIGPUBLOCKLAST - 1)
	switch what {
	case backend.SensorECC:
		return blocks & rsmi.RSMIGPUBLOCKUMC, nil
	case backend.SensorMemoryCorrected, backend.SensorMemoryUncorrected:
		blocks &= rsmi.RSMIGPUBLOCKUMC
	}
	if blocks == 0 {
		return 0, fmt.Errorf("%w: errors are not counted", backend.ErrNoSensor)
	}
	out := dl.Alloc(64) // the structure has two numbers; releases may add to it
	defer out.Free()
	at := 0
	if what == backend.SensorUncorrected || what == backend.SensorMemoryUncorrected {
		at = 8
	}
	sum := uint64(0)
	for block := uint64(1); block <= rsmi.RSMIGPUBLOCKLAST; block *= 2 {
		if blocks&block == 0 {
			continue
		}
		if err := s.call(rsmi.Rsmi_dev_ecc_count_get, i, uintptr(block), out.Addr()); err != nil {
			return 0, err
		}
		sum += word(out, at)
	}
	return sum, nil
}
