//go:build generate

// Package kudzu only holds the repository's go:generate line and its policy tests.
package kudzu

//go:generate go run ./cmd/gen
