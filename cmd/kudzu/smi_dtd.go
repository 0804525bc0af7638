package main

import (
	"fmt"
	"strings"
)

// dtdName is the file that a document without its DTD names.
func dtdName(unit bool) string {
	if unit {
		return "nvsmi_unit_v4.dtd"
	}
	return "nvsmi_device_v13.dtd"
}

// dtd is element declarations in the making: which elements each has inside, in order. None: text.
type dtd struct {
	names  []string
	inside map[string]string
}

// add declares an element, once.
func (d *dtd) add(name, content string) {
	if _, ok := d.inside[name]; !ok {
		d.names, d.inside[name] = append(d.names, name), content
	}
}

const text = "(#PCDATA)"

func sequence(names []string) string { return "(" + strings.Join(names, ", ") + ")" }

// smiDTD declares the elements of -x, as the layout of the log has them.
func smiDTD(unit bool) string {
	d := &dtd{inside: map[string]string{}}
	if unit {
		d.add("nvidia_smi_log", "(timestamp, driver_version, cuda_version, hic_info, attached_units)")
	} else {
		d.add("nvidia_smi_log", "(timestamp, driver_version, cuda_version, attached_gpus, gpu*)")
		d.device()
	}
	for _, name := range strings.FieldsFunc(d.inside["nvidia_smi_log"], func(r rune) bool { return strings.ContainsRune("(), *", r) }) {
		d.add(name, text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- %s -->\n", dtdName(unit))
	for _, name := range d.names {
		fmt.Fprintf(&b, "<!ELEMENT %s %s>\n", name, d.inside[name])
		if name == "gpu" {
			fmt.Fprintln(&b, "<!ATTLIST gpu id CDATA #REQUIRED>")
		}
	}
	return b.String()
}

// device declares what is inside gpu.
func (d *dtd) device() {
	var shown []logNode
	for _, n := range logNodes {
		if n.tag != "" {
			shown = append(shown, n)
		}
	}
	children := func(i, depth int) []string {
		var all []string
		for _, n := range shown[i:] {
			if n.depth < depth {
				break
			}
			if n.depth == depth {
				all = append(all, n.tag)
			}
		}
		return all
	}
	d.add("gpu", sequence(children(0, 0)))
	for i, n := range shown {
		switch inner := children(i+1, n.depth+1); {
		case n.value == "processes":
			d.add(n.tag, "(#PCDATA | process_info)*")
			var tags []string
			for _, e := range processElements {
				tags = append(tags, e.tag)
			}
			d.add("process_info", sequence(tags))
			for _, tag := range tags {
				d.add(tag, text)
			}
		case n.value == "" && len(inner) > 0:
			d.add(n.tag, sequence(inner))
		default:
			d.add(n.tag, text)
		}
	}
}
