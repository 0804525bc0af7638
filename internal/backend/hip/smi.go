package hip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"kudzu/internal/backend"
	"kudzu/internal/config"
	"kudzu/internal/dl"
	"kudzu/internal/spec/rsmi"
)

// smi is ROCm SMI, which tells what HIP does not: temperatures, power, clocks, how busy a GPU is. It counts devices its own way;
// where one lies on the bus says which is which.
type smi struct {
	once sync.Once
	lib  *dl.Library
	err  error           // why there is none
	at   map[[3]int]uint // device numbers by domain, bus and device
	old  bool            // of ROCm 5
}

var _ backend.Monitor = (*device)(nil)

// smiNames are the sonames: its own, newest first, and those of AMD SMI, which has all of it inside.
var smiNames = []string{"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1", "libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24"}

// smiVariable names the library outright, or is "none".
const smiVariable = config.ROCmSMILibrary

// open loads the library and finds its devices, once.
func (s *smi) open(env func(string) string) error {
	s.once.Do(func() { s.err = s.load(env) })
	return s.err
}

func (s *smi) load(env func(string) string) error {
	look := dl.Look{
		What: "ROCm SMI", Variable: smiVariable, Env: env, Names: smiNames, Folders: folders, Symbol: rsmi.Rows[rsmi.Rsmi_init].Name,
	}
	lib, err := look.Open()
	if err != nil {
		return fmt.Errorf("%w (%w)", err, backend.ErrNoSensor)
	}
	s.lib = lib
	_, err = lib.Find(rsmi.Rows[rsmi.Rsmi_dev_power_get].Name)
	s.old = err != nil
	if err := s.call(rsmi.Rsmi_init, 0); err != nil {
		return err
	}
	n, err := s.get(rsmi.Rsmi_num_monitor_devices)
	if err != nil {
		return err
	}
	s.at = map[[3]int]uint{}
	for i := range uint(uint32(n)) {
		id, err := s.get(rsmi.Rsmi_dev_pci_id_get, uintptr(i))
		if err == nil {
			s.at[[3]int{int(id >> 32), int(id >> 8 & 0xff), int(id >> 3 & 0x1f)}] = i
		}
	}
	return nil
}

// call calls a function of the library. What it cannot tell is ErrNoSensor.
func (s *smi) call(f rsmi.Func, args ...uintptr) error {
	row := &rsmi.Rows[f]
	switch r, err := s.lib.Status(row.Name, row.Params, args...); {
	case err != nil:
		return fmt.Errorf("%w (%w)", err, backend.ErrNoSensor)
	case r != rsmi.RSMI_STATUS_SUCCESS:
		return fmt.Errorf("%s: status %d (%w)", row.Name, r, backend.ErrNoSensor)
	}
	return nil
}

// get calls a function whose last parameter is a pointer to what it tells.
func (s *smi) get(f rsmi.Func, args ...uintptr) (uint64, error) {
	out := dl.Alloc(16)
	defer out.Free()
	err := s.call(f, append(args, out.Addr())...)
	return word(out, 0), err
}

// Monitor says in one line which library tells of devices, or why there is none.
func (b *Backend) Monitor() (string, error) {
	if err := b.smi.open(b.cfg.Env); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %d devices", b.smi.lib.Path(), len(b.smi.at)), nil
}

// smiIndex is the device's number there.
func (d *device) smiIndex() (*smi, uintptr, error) {
	s := &d.b.smi
	if err := s.open(d.b.cfg.Env); err != nil {
		return nil, 0, err
	}
	i, ok := s.at[d.info.PCI]
	if !ok {
		return nil, 0, fmt.Errorf("%w: ROCm SMI has no device at %04x:%02x:%02x", backend.ErrNoSensor, d.info.PCI[0], d.info.PCI[1], d.info.PCI[2])
	}
	return s, uintptr(i), nil
}

// simple are the sensors that one call answers, and what its number must be divided by.
var simple = map[backend.Sensor]struct {
	f    rsmi.Func
	args []uintptr // between the device and the place for the answer
	by   uint64
}{
	backend.SensorBusy: {rsmi.Rsmi_dev_busy_percent_get, nil, 1}, backend.SensorMemoryBusy: {rsmi.Rsmi_dev_memory_busy_percent_get, nil, 1},
	backend.SensorMemoryTotal:  {rsmi.Rsmi_dev_memory_total_get, []uintptr{rsmi.RSMI_MEM_TYPE_VRAM}, 1},
	backend.SensorMemoryUsed:   {rsmi.Rsmi_dev_memory_usage_get, []uintptr{rsmi.RSMI_MEM_TYPE_VRAM}, 1},
	backend.SensorPowerLimit:   {rsmi.Rsmi_dev_power_cap_get, []uintptr{0}, 1000}, // microwatts
	backend.SensorPowerDefault: {rsmi.Rsmi_dev_power_cap_default_get, nil, 1000},
	backend.SensorReplays:      {rsmi.Rsmi_dev_pci_replay_counter_get, nil, 1},
}

// Sense asks ROCm SMI.
func (d *device) Sense(what backend.Sensor) (uint64, error) {
	s, i, err := d.smiIndex()
	if err != nil {
		return 0, err
	}
	if q, ok := simple[what]; ok {
		v, err := s.get(q.f, append([]uintptr{i}, q.args...)...)
		if q.f == rsmi.Rsmi_dev_busy_percent_get || q.f == rsmi.Rsmi_dev_memory_busy_percent_get {
			v = uint64(uint32(v)) // they write 32 bits
		}
		return v / q.by, err
	}
	switch what {
	case backend.SensorTemperature:
		return s.temperature(i, rsmi.RSMI_TEMP_CURRENT, die...)
	case backend.SensorSlowdown:
		return s.temperature(i, rsmi.RSMI_TEMP_CRITICAL, die...)
	case backend.SensorShutdown:
		return s.temperature(i, rsmi.RSMI_TEMP_EMERGENCY, die...)
	case backend.SensorMemoryTemperature:
		return s.temperature(i, rsmi.RSMI_TEMP_CURRENT, rsmi.RSMI_TEMP_TYPE_MEMORY)
	case backend.SensorPower:
		return s.power(i)
	case backend.SensorPowerMin, backend.SensorPowerMax:
		out := dl.Alloc(16)
		defer out.Free()
		err := s.call(rsmi.Rsmi_dev_power_cap_range_get, i, 0, out.Addr(), out.Addr()+8)
		if what == backend.SensorPowerMax {
			return word(out, 0) / 1000, err
		}
		return word(out, 8) / 1000, err
	case backend.SensorFan:
		return s.fan(i)
	case backend.SensorClock, backend.SensorClockMax:
		return s.clock(i, rsmi.RSMI_CLK_TYPE_SYS, what == backend.SensorClockMax)
	case backend.SensorMemoryClock, backend.SensorMemoryClockMax:
		return s.clock(i, rsmi.RSMI_CLK_TYPE_MEM, what == backend.SensorMemoryClockMax)
	case backend.SensorEnergy:
		return s.energy(i)
	case backend.SensorLinkRate, backend.SensorLinkRateMax, backend.SensorLinkWidth, backend.SensorLinkWidthMax:
		return s.link(i, what)
	case backend.SensorECC, backend.SensorCorrected, backend.SensorUncorrected, backend.SensorMemoryCorrected, backend.SensorMemoryUncorrected:
		return s.ecc(i, what)
	}
	return 0, fmt.Errorf("sensor %d: %w", what, backend.ErrNoSensor)
}

// die is where the die's temperature is: at its edge, or in its hottest place on GPUs that have no sensor at the edge.
var die = []uintptr{rsmi.RSMI_TEMP_TYPE_EDGE, rsmi.RSMI_TEMP_TYPE_JUNCTION}

// temperature is in degrees, of the first place that has a sensor.
func (s *smi) temperature(i uintptr, metric uintptr, places ...uintptr) (uint64, error) {
	var err error
	for _, place := range places {
		var v uint64
		if v, err = s.get(rsmi.Rsmi_dev_temp_metric_get, i, place, metric); err == nil {
			return uint64(max(int64(v)/1000, 0)), nil
		}
	}
	return 0, err
}

// power is in milliwatts: now, or on the average where that is all the GPU tells.
func (s *smi) power(i uintptr) (uint64, error) {
	if !s.old {
		out := dl.Alloc(16)
		defer out.Free()
		if err := s.call(rsmi.Rsmi_dev_power_get, i, out.Addr(), out.Addr()+8); err == nil {
			return word(out, 0) / 1000, nil
		}
	}
	v, err := s.get(rsmi.Rsmi_dev_power_ave_get, i, 0)
	return v / 1000, err
}

// fan is in percent of the highest speed.
func (s *smi) fan(i uintptr) (uint64, error) {
	v, err := s.get(rsmi.Rsmi_dev_fan_speed_get, i, 0)
	if err != nil {
		return 0, err
	}
	most, err := s.get(rsmi.Rsmi_dev_fan_speed_max_get, i, 0)
	if err != nil || most == 0 {
		most = rsmi.RSMIMAXFANSPEED
	}
	return min(uint64(max(int64(v), 0))*100/most, 100), nil
}

// texts are the functions that write a text.
var texts = map[string]rsmi.Func{"serial": rsmi.Rsmi_dev_serial_number_get, "vbios": rsmi.Rsmi_dev_vbios_version_get}

// Text asks ROCm SMI.
func (d *device) Text(what string) (string, error) {
	f, ok := texts[what]
	if !ok {
		return "", fmt.Errorf("%s: %w", what, backend.ErrNoSensor)
	}
	s, i, err := d.smiIndex()
	if err != nil {
		return "", err
	}
	const room = 128
	out := dl.Alloc(room)
	defer out.Free()
	if err := s.call(f, i, out.Addr(), room-1); err != nil {
		return "", err
	}
	text, _, _ := bytes.Cut(out.Bytes(), []byte{0})
	if len(text) == 0 {
		return "", errors.Join(backend.ErrNoSensor, fmt.Errorf("%s: empty", what))
	}
	return string(text), nil
}

// maxProcesses is far more than use a machine's GPUs; a library that says more is not believed.
const maxProcesses = 1 << 16

// Processes asks ROCm SMI who uses the device.
func (d *device) Processes() (map[uint32]uint64, error) {
	s, i, err := d.smiIndex()
	if err != nil {
		return nil, err
	}
	count := dl.Alloc(8)
	defer count.Free()
	if err := s.call(rsmi.Rsmi_compute_process_info_get, 0, count.Addr()); err != nil {
		return nil, err
	}
	room := binary.LittleEndian.Uint32(count.Bytes()) + 16 // some may come meanwhile
	if room > maxProcesses {
		return nil, fmt.Errorf("%d processes (%w)", room, backend.ErrNoSensor)
	}
	list := dl.Alloc(int(room) * rsmi.RSMIPROCESSBYTES)
	defer list.Free()
	binary.LittleEndian.PutUint32(count.Bytes(), room)
	if err := s.call(rsmi.Rsmi_compute_process_info_get, list.Addr(), count.Addr()); err != nil {
		return nil, err
	}
	used := map[uint32]uint64{}
	for n := range min(binary.LittleEndian.Uint32(count.Bytes()), room) {
		p := list.Bytes()[n*rsmi.RSMIPROCESSBYTES:]
		pid, bytes := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint64(p[rsmi.RSMIPROCESSVRAMAT:])
		if on, several := s.uses(pid, uint32(i)); on {
			if several {
				bytes = s.usedOn(pid, i, bytes)
			}
			used[pid] = bytes
		}
	}
	return used, nil
}

// uses reports whether a process uses a device, and whether it uses others.
func (s *smi) uses(pid, device uint32) (on, several bool) {
	buf := dl.Alloc(8 + 4*len(s.at))
	defer buf.Free()
	b := buf.Bytes()
	binary.LittleEndian.PutUint32(b, uint32(len(s.at)))
	if s.call(rsmi.Rsmi_compute_process_gpus_get, uintptr(pid), buf.Addr()+8, buf.Addr()) != nil {
		return false, false // it has ended
	}
	n := min(int(binary.LittleEndian.Uint32(b)), len(s.at))
	for i := range n {
		on = on || binary.LittleEndian.Uint32(b[8+4*i:]) == device
	}
	return on, n > 1
}

// usedOn is what a process that uses several devices has on one; all it has where the library does not tell them apart.
func (s *smi) usedOn(pid uint32, device uintptr, all uint64) uint64 {
	buf := dl.Alloc(rsmi.RSMIPROCESSBYTES)
	defer buf.Free()
	if s.call(rsmi.Rsmi_compute_process_info_by_device_get, uintptr(pid), device, buf.Addr()) != nil {
		return all
	}
	return binary.LittleEndian.Uint64(buf.Bytes()[rsmi.RSMIPROCESSVRAMAT:])
}
