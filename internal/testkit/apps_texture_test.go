package testkit

import "testing"

// TestAppTexRef: texture and surface references by the driver API's old names, bound again between launches and under a graph.
func TestAppTexRef(t *testing.T) {
	exe := appProgram(t, "app_texref")
	onBackends(t, func(t *testing.T, backend string) { newApp(t, backend, exe).run().want(t, "ok\n") })
}
