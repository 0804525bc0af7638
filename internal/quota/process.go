package quota

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is what the system counts of one.
type Process struct {
	Started uint64        // when it began, in the system's ticks: a number that came again is another process
	Worked  time.Duration // of all its threads, on processors
}

// tick is USER_HZ, which is 100 on every machine that we run on.
const tick = time.Second / 100

// Process reads /proc/PID/stat.
func (s System) Process(pid int) (Process, error) {
	b, err := os.ReadFile(filepath.Join(s.root, "proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return Process{}, err
	}
	text := string(b)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name may hold anything
	const user, system, started = 14 - 3, 15 - 3, 22 - 3                // fields as proc(5) counts them, after pid and name
	if len(fields) <= started {
		return Process{}, errors.New("no start time")
	}
	var n [3]uint64
	for i, at := range []int{user, system, started} {
		if n[i], err = strconv.ParseUint(fields[at], 10, 63); err != nil {
			return Process{}, err
		}
	}
	return Process{Started: n[2], Worked: time.Duration(n[0]+n[1]) * tick}, nil
}
