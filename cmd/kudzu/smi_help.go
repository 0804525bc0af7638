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
          --dtd                 With -x: the DTD inside. Alone: the DTD.

  Chosen fields, with the options above:
    --query-gpu=                Of devices. --help-query-gpu lists them, and so for the others.
    --query-compute-apps=       Of processes.
    --query-accounted-apps=     Of processes that ended.
    --query-supported-clocks=   Of clocks.
    --query-retired-pages=      Of memory pages.
    --query-remapped-rows=      Of memory rows.
    --format=                   csv, noheader, nounits.

  Settings, for root. Devices stay as they are; the text says why.
    -pm,  --persistence-mode=   0 or 1
    -c,   --compute-mode=       0 to 3
    -am,  --accounting-mode=    0 or 1
    -mig, --multi-instance-gpu= 0 or 1
    -e, -p, -ac, -rac, -lgc, -rgc, -lmc, -rmc, -lmcd, -rmcd, -pl, -cc, -caa, -gtt, -den, -vm, -r, --gom=,
    --auto-boost-default=, --auto-boost-permission=, --get-hostname
    -eow, --error-on-warning    What is not supported is an error.

  dmon, pmon                    Devices or processes, a line a second. "nvidia-smi dmon -h" says more.
  topo -m                       How devices are connected.
  drain -p BUS -q               Whether a device is about to go.
  compute-policy -l             How contexts share a device.
  conf-compute -f               Confidential computing.
  clocks, nvlink, mig, vgpu     Nothing here.
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

const smiClocksHelp = `
    Usage: nvidia-smi clocks

    No device here has clocks that programs could choose.
`

const smiPolicyHelp = `
    Usage: nvidia-smi compute-policy -l

    [-l | --list]: The policies of devices
    [-i | --id]:   Devices by number, UUID or bus, with commas between them
`

const smiConfidentialHelp = `
    Usage: nvidia-smi conf-compute -f

    [-f | --get-cc-feature]: Whether confidential computing is on
`

const smiDrainHelp = `
    Usage: nvidia-smi drain -p BUS [options]

    [-p | --pciid]:  The device, by its bus
    [-q | --query]:  Whether it is about to go
    [-m | --modify]: 1 to have it go, 0 to keep it
    [-r | --remove]: Remove it
`

// smiHelpQuery lists the fields of a selective query.
func smiHelpQuery(out io.Writer, kind string) error {
	fmt.Fprintf(out, "List of valid properties to query for the switch \"--query-%s\":\n\n", kind)
	for _, names := range smiQueries[kind].names() {
		if !strings.HasPrefix(names[0], ".") {
			fmt.Fprintf(out, "\"%s\"\n%s\n\n", strings.Join(names, `" or "`), smiQueries[kind].about(names[0]))
		}
	}
	return nil
}
