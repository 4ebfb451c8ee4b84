// Package sqlite keeps what Cloche counts in one file, cloche.db in the data
// folder. It is the store of a single machine and needs nothing but the disk:
// no server, no cgo. metricstest says what it does; this package only knows how.
//
// The file is in WAL mode with synchronous=NORMAL (https://sqlite.org/wal.html):
// a recorded event survives the end of the process at any moment. A power cut
// may cost the last events, but never the file.
//
// One goroutine writes. Events that arrive while it is busy share the next
// transaction, so many writers cost little more than one (see writer.go). An event
// is written before it is answered for, the sums a moment later (see count.go).
// Several processes may use the file at once, such as a server and a listing.
package sqlite
