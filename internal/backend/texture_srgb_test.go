package backend

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSRGB holds the table against the engine's, which is C and has to have its own.
func TestSRGB(t *testing.T) {
	text, err := os.ReadFile("../engine/texsrgb.h")
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(string(text), "{")
	if !ok {
		t.Fatal("the engine's table is not found")
	}
	body, _, _ = strings.Cut(body, "}")
	numbers := regexp.MustCompile(`[0-9]+`).FindAllString(body, -1)
	if len(numbers) != len(SRGBLinear) {
		t.Fatalf("%d values, want %d", len(numbers), len(SRGBLinear))
	}
	for i, s := range numbers {
		if n, _ := strconv.Atoi(s); n != int(SRGBLinear[i]) {
			t.Errorf("value %d is %d for the engine and %d here", i, n, SRGBLinear[i])
		}
	}
}
