package testkit

import "testing"

// TestAppMemory: what only the loader reads does not stay in memory.
func TestAppMemory(t *testing.T) { newApp(t, "cpu", appProgram(t, "app_memory")).run().want(t, "ok\n") }
