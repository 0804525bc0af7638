module kudzu

go 1.25.0

require (
	github.com/ebitengine/purego v0.11.2
	github.com/klauspost/compress v1.20.3
	github.com/klauspost/cpuid/v2 v2.4.1
	github.com/pierrec/lz4/v4 v4.1.33
	golang.org/x/sys v0.41.0
	golang.org/x/tools v0.26.0
	lukechampine.com/blake3 v1.4.1
)
