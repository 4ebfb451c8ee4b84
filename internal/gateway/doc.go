// Package gateway is Cloche on AWS Lambda. It serves an http.Handler to API
// Gateway (Serve), has snippets run by another function (Remote), answers inside
// that function (Host), and takes the events of a schedule (ServeSchedule). No
// other package knows how Lambda calls and is called.
//
// Remote and Host do not trust each other equally. A job comes from Remote and
// is believed. What comes back was made in a place where nobody trusts anybody,
// and is read as if the snippet itself had written it.
package gateway
