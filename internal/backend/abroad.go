package backend

// Abroad is a queue of a vendor's runtime into which that vendor's libraries can put work of their own.
type Abroad interface {
	// Abroad calls fn with the vendor's stream, its device being current on the calling thread. What fn puts into the stream
	// is work of the queue after all it had; what names it in messages. The error is fn's, or a *Fault.
	Abroad(what string, fn func(Where) error) error
}

// Where is a queue as its vendor's libraries know it.
type Where struct {
	Runtime string // "hip"
	Version int    // of the runtime, as it counts
	Device  int    // the runtime's ordinal
	Stream  uintptr
}

// Sensor is something that a device may tell of itself.
type Sensor int

// The sensors, and the unit of each.
const (
	SensorBusy              Sensor = iota // percent of the time that kernels ran
	SensorMemoryBusy                      // percent of the time that memory was used
	SensorMemoryTotal                     // bytes
	SensorMemoryUsed                      // bytes, of all processes
	SensorTemperature                     // degrees Celsius
	SensorSlowdown                        // degrees at which the clock falls
	SensorShutdown                        // degrees at which the device stops
	SensorPower                           // milliwatts
	SensorPowerLimit                      // milliwatts
	SensorPowerDefault                    // milliwatts
	SensorPowerMin                        // milliwatts
	SensorPowerMax                        // milliwatts
	SensorFan                             // percent of the highest speed
	SensorClock                           // MHz now
	SensorClockMax                        // MHz
	SensorMemoryClock                     // MHz now
	SensorMemoryClockMax                  // MHz
	SensorReplays                         // packets of the bus that were sent again
	SensorMemoryTemperature               // degrees Celsius
	SensorEnergy                          // millijoules since the driver was loaded
	SensorLinkRate                        // million transfers a second of each lane of the bus
	SensorLinkRateMax                     // the same at most
	SensorLinkWidth                       // lanes in use
	SensorLinkWidthMax                    // lanes
	SensorECC                             // 1 if memory corrects errors, else 0
	SensorCorrected                       // errors corrected, of all parts
	SensorUncorrected                     // errors found and not corrected, of all parts
	SensorMemoryCorrected                 // errors corrected in memory
	SensorMemoryUncorrected               // errors found and not corrected in memory
	NumSensors
)

// Monitor is a device that knows more of itself than its backend's runtime says. ErrNoSensor: not this.
type Monitor interface {
	Sense(s Sensor) (uint64, error)
	// Text is what the device has written on it: "serial", "vbios".
	Text(what string) (string, error)
	// Processes are those that use the device, and the bytes of memory each has there.
	Processes() (map[uint32]uint64, error)
}
