package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kudzu/internal/roster"
)

// ranges writes numbers as the system does: 0-3,8.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := fmt.Sprint(numbers[i])
		if j > i {
			part += fmt.Sprintf("-%d", numbers[j])
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ",")
}

// smiTopo shows how devices are connected: all are one machine.
func smiTopo(args []string, out io.Writer, _ func(time.Duration) bool) error {
	if len(args) != 1 || args[0] != "-m" && args[0] != "--matrix" {
		_, err := io.WriteString(out, smiTopoHelp)
		return err
	}
	cards, err := openCards()
	if err != nil {
		return err
	}
	fmt.Fprint(out, "\t\x1b[4m")
	for _, c := range cards {
		fmt.Fprintf(out, "GPU%d\t", c.dev)
	}
	fmt.Fprint(out, "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n")
	for _, row := range cards {
		fmt.Fprintf(out, "GPU%d\t", row.dev)
		for _, c := range cards {
			link := "PIX"
			if c.dev == row.dev {
				link = " X "
			}
			fmt.Fprintf(out, "%s\t", link)
		}
		fmt.Fprintf(out, "%s\t%s\t\t%s\n", ranges(roster.Processors()), orNA(ranges(roster.Nodes())), orNA(digits(row.th.DeviceGetNumaNodeId(row.h))))
	}
	fmt.Fprint(out, `
Legend:

  X    = Self
  SYS  = between NUMA nodes
  NODE = between host bridges of a NUMA node
  PHB  = through a host bridge
  PXB  = through several bridges
  PIX  = through one bridge at most, or the same chip
  NV#  = through # NVLinks
`)
	return nil
}
