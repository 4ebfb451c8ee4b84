//go:build !race

package sqlite

// many is the default of Limits.Events: as many as a file holds.
const many = 100_000
