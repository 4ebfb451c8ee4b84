package api

import (
	"net/http"
	"testing"
)

func TestNegotiate(t *testing.T) {
	for accept, want := range map[string]string{
		"":                 jsonType,
		"*/*":              jsonType,
		"application/json": jsonType,
		"application/*":    jsonType,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": jsonType, // a browser
		"application/xml": jsonType, // none of ours: the usual form
		"nonsense;;;":     jsonType,
		",,":              jsonType,

		"text/plain": textType,
		"Text/Plain; version=0.0.4; charset=utf-8": textType,
		"text/*": textType,
		"application/openmetrics-text; version=1.0.0":  openMetricsType,
		"text/plain;q=0.5,*/*;q=0.1":                   textType,
		"text/plain;q=0.1,application/json;q=0.2":      jsonType,
		"application/json;q=0.2, text/plain;q=0.3":     textType,
		"text/plain, application/json":                 jsonType, // equally wanted, equally named
		"text/plain, */*":                              textType, // equally wanted, named more closely
		"text/plain;q=0, */*":                          jsonType,
		"application/json;q=0":                         jsonType,
		"application/json;q=0, */*;q=0.1":              textType,
		"text/plain;q=2, application/json;q=0.1":       jsonType, // no quality at all
		"text/plain;q=NaN, application/json;q=0.1":     jsonType,
		"text/plain;version=9;q=0.1, text/plain;q=0.9": textType,
		"application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1": openMetricsType, // Prometheus
	} {
		got := negotiate(http.Header{"Accept": {accept}}, jsonType, textType, openMetricsType)
		if got != want {
			t.Errorf("Accept %q gets %s, want %s", accept, got, want)
		}
	}
	several := http.Header{"Accept": {"application/json;q=0.1", "text/plain"}}
	if got := negotiate(several, jsonType, textType); got != textType {
		t.Errorf("two headers get %s", got)
	}
	if got := negotiate(http.Header{}, jsonType, textType); got != jsonType {
		t.Errorf("no header gets %s", got)
	}
}
