package devrt

import (
	"regexp"
	"strings"
	"testing"
)

// TestTexturePTX: the functions bring nothing that a program's own names could meet, and no variable, for which there would be no place.
func TestTexturePTX(t *testing.T) {
	function := regexp.MustCompile(`\.func\s+(?:\([^)]*\)\s*)?(\w+)`)
	variable := regexp.MustCompile(`(?m)^\s*(\.\w+\s+)?\.(global|const|shared)\s.*`)
	for name, file := range provided {
		if !strings.HasPrefix(name, "kudzu_") {
			continue
		}
		text := texts.Text(file)
		found := false
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			found = found || m[1] == name
			if !Provides(m[1]) {
				t.Errorf("%s comes with a function %s", name, m[1])
			}
		}
		if !found {
			t.Errorf("%s is not defined", name)
		}
		for _, v := range variable.FindAllString(text, -1) {
			if !strings.HasPrefix(v, ".extern") || !strings.Contains(v, Textures+"[") && !strings.Contains(v, Mailbox+"[") {
				t.Errorf("%s comes with %q", name, v)
			}
		}
	}
	if n := strings.Count(texts.Text("surface"), ".visible .func"); n != 4 {
		t.Errorf("%d functions of surfaces", n)
	}
}

// TestTextureTable: where a handle's chunk is named.
func TestTextureTable(t *testing.T) {
	var srgb [256]uint16
	srgb[255] = 16384
	b := NewTextures(&srgb)
	last := uint64(1<<TextureSlotBits - 1)
	if len(b) != TextureTable || b[511] != 0x40 || ChunkAt(0) != 512 || ChunkAt(5<<TextureSlotBits|256) != 520 || ChunkAt(last) != TextureTable-8 {
		t.Errorf("%d bytes, %d, chunks at %d, %d, %d", len(b), b[511], ChunkAt(0), ChunkAt(5<<TextureSlotBits|256), ChunkAt(last))
	}
	if !strings.Contains(texts.Text("fetch"), ".b8 kudzu_textures[33280]") || TextureTable != 33280 {
		t.Errorf("the functions' table is not of %d bytes", TextureTable)
	}
}
