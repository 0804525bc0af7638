package cudart

import "kudzu/internal/driver"

// Ready gives a thread a context as the runtime would at its first call that needs one. Libraries on top of the runtime
// begin with it.
func Ready(d *driver.Thread) error {
	_, err := (*Thread)(d).ready()
	return err
}
