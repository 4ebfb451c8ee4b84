//go:build race

package sqlite

// many is fewer under the race detector, which makes SQLite ten times slower.
const many = 10_000
