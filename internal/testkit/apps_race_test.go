package testkit

import "testing"

// TestAppRace: threads launch kernels and graphs while another ends their context, module or library. They get errors, nothing is
// reported as a fault of the kernel, and the process goes on.
func TestAppRace(t *testing.T) {
	exe := appProgram(t, "app_race")
	onBackends(t, func(t *testing.T, backend string) {
		for _, what := range []string{"context", "module", "library", "reset", "release"} {
			t.Run(what, func(t *testing.T) { newApp(t, backend, exe, what, "15").run().want(t, "ok\n") })
		}
	})
}
