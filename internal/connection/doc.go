// Package connection bounds the connections of an http.Server, and sees to it that
// what net/http answers by itself is a problem document like all other refusals.
//
// A connection waits as long as no header of a request has been read from it:
// when it is new, and between requests. When all places are taken, the one that
// has waited longest is closed for a new one. With its header read it is busy
// until its answer is sent. Some places are never for busy ones, so there is always
// one that can give way, and whoever comes when the others are taken is read and
// told so with 503.
package connection
