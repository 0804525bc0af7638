package main

import (
	"fmt"
	"io"
	"strings"
)

// smiHelp is our own text; the options are nvidia-smi's.
const smiHelp = `nvidia-smi of Kudzu: devices, their memory and use, and who uses them, as NVML has them.

nvidia-smi [OPTION1 [ARG1]] [OPTION2 [ARG2]] ...

    -h,   --help                This text.
          --version             Versions.
    -L,   --list-gpus           A line a device.
    -B,   --list-excluded-gpus  Devices that programs do not get.

  Summary (without other options):
    -i,   --id=                 Devices by number, UUID or bus, with commas between them.
    -f,   --filename=           Into a file.
    -l,   --loop=               Again after so many seconds (5).
    -lms, --loop-ms=            Again after so many milliseconds.

  All there is to know, with the options above:
    -q,   --query               As text.
    -x,   --xml-format          As XML.
    -u,   --unit                Of units.
    -d,   --display=            Sections, with commas between them.

  Chosen fields, with the options above:
    --query-gpu=                Of devices. --help-query-gpu lists them, and so for the others.
    --query-compute-apps=       Of processes.
    --query-accounted-apps=     Of processes that ended.
    --query-supported-clocks=   Of clocks.
    --query-retired-pages=      Of memory pages.
    --query-remapped-rows=      Of memory rows.
    --format=                   csv, noheader, nounits.

  Settings (for root):
    -pm,  --persistence-mode=   0 or 1
    -c,   --compute-mode=       0 to 3
    -am,  --accounting-mode=    0 or 1
    -mig, --multi-instance-gpu= 0 or 1

  dmon, pmon                    Devices or processes, a line a second. "nvidia-smi dmon -h" says more.
  topo -m                       How devices are connected.
  nvlink, mig, vgpu             Nothing here.
`

const smiMonitorHelp = `    [-i | --id]:       Devices by number, UUID or bus, with commas between them
    [-d | --delay]:    Seconds between lines [default=1]
    [-c | --count]:    How many times
    [-o | --options]:  D: with the date, T: with the time
    [-f | --filename]: Into a file
    [-h | --help]:     This text
`

const smiDmonHelp = `
    Usage: nvidia-smi dmon [options]

` + smiMonitorHelp + `    [-s | --select]:   p power and temperature, u use, c clocks, v violations, m memory, e errors, t transfers [default=puc]
    [N/A | --format]:  csv, nounit, noheader
`

const smiPmonHelp = `
    Usage: nvidia-smi pmon [options]

` + smiMonitorHelp + `    [-s | --select]:   u use, m memory [default=u]
`

const smiTopoHelp = `
    Usage: nvidia-smi topo -m

    [-m | --matrix]: How devices are connected
`

// smiHelpQuery lists the fields of a selective query.
func smiHelpQuery(out io.Writer, kind string) error {
	fmt.Fprintf(out, "List of valid properties to query for the switch \"--query-%s\":\n\n", kind)
	for _, names := range smiQueries[kind].names() {
		if !strings.HasPrefix(names[0], ".") {
			fmt.Fprintf(out, "\"%s\"\n", strings.Join(names, `" or "`))
		}
	}
	return nil
}
