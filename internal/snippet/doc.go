// Package snippet holds the words of Cloche: what a caller asks (Request),
// what a run may use (Limits, Policy), what came of it (Result) and the closed
// sets that describe it (Outcome, Reason). It knows no HTTP, no store and no
// sandbox, so that every other package can speak the same language.
package snippet
