package fatbin

import "unsafe"

// Own is the text as a string that does not change when the container's memory does. What was unpacked is nobody else's, and is not
// copied: texts of tens of megabytes are common. Text may not be written to afterwards.
func (c *Choice) Own() string {
	if c.Entry.Kind == PTX && !c.Entry.Compressed() {
		return string(c.Text)
	}
	return unsafe.String(unsafe.SliceData(c.Text), len(c.Text))
}
