package gateway

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// readEvent makes an event of a REST API one that the adapter converts without
// a fault. What it would turn into an error, a crash or another request is
// refused or mended here.
func readEvent(payload []byte) (events.APIGatewayProxyRequest, *problem) {
	var e events.APIGatewayProxyRequest
	if err := json.Unmarshal(payload, &e); err != nil {
		return e, refuse(http.StatusBadRequest, "The event is not one of a REST API.")
	}
	if e.IsBase64Encoded {
		body, err := base64.StdEncoding.DecodeString(e.Body)
		if err != nil {
			return e, refuse(http.StatusBadRequest, "The body is not valid base64, although it is marked as such.")
		}
		e.Body, e.IsBase64Encoded = string(body), false
	}
	if e.HTTPMethod != "" && !token.MatchString(e.HTTPMethod) {
		return e, refuse(http.StatusBadRequest, "The method is not one of HTTP.")
	}
	header, ok := headerOf(e)
	if !ok {
		return e, refuse(http.StatusBadRequest, "A header has a name or a value that HTTP does not allow.")
	}
	e.Headers, e.MultiValueHeaders = nil, header
	e.Path = pathOf(e)
	e.RequestContext.DomainName = hostOf(e, header)
	return e, nil
}

// pathOf is the path that the API knows, escaped, so that a question mark or a
// stray percent sign in it stays what it is. The event's own path may begin with
// a stage or with the base path of a custom domain; the route that was met does
// not.
func pathOf(e events.APIGatewayProxyRequest) string {
	path := e.Path
	for _, route := range routesOf(e) {
		if strings.HasPrefix(route, "/") && strings.HasSuffix(path, route) {
			path = route
			break
		}
	}
	return (&url.URL{Path: "/" + strings.TrimPrefix(path, "/")}).EscapedPath()
}

// variable is a part of a resource: {name}, or {name+} for what may have slashes.
var variable = regexp.MustCompile(`\{([^{}+]+)\+?\}`)

// routesOf are the paths that the route which was met may stand for: with its
// variables as they are given, and unescaped, since the event's path has either.
// They only ever pick the end of that path, so a caller's text adds nothing to it.
func routesOf(e events.APIGatewayProxyRequest) []string {
	fill := func(form func(string) string) string {
		return variable.ReplaceAllStringFunc(e.Resource, func(v string) string {
			if value, known := e.PathParameters[variable.FindStringSubmatch(v)[1]]; known {
				return form(value)
			}
			return v
		})
	}
	plain := func(value string) string {
		if value, err := url.PathUnescape(value); err == nil {
			return value
		}
		return value
	}
	return []string{fill(func(value string) string { return value }), fill(plain)}
}

// unwanted are headers about a connection that ended before Lambda, or that say
// again what the event says elsewhere.
var unwanted = map[string]bool{
	"Connection": true, "Content-Length": true, "Expect": true, "Host": true, "Transfer-Encoding": true,
}

// adapterPrefix begins the headers by which the adapter hands an event's context
// to handlers. Nobody else may send them.
const adapterPrefix = "X-Golambdaproxy-"

// headerOf merges the two forms in which an event has its headers: either may be
// missing, and only one of them keeps repeated ones.
func headerOf(e events.APIGatewayProxyRequest) (http.Header, bool) {
	header := http.Header{}
	for name, values := range e.MultiValueHeaders {
		name = textproto.CanonicalMIMEHeaderKey(name)
		header[name] = append(header[name], values...)
	}
	for name, value := range e.Headers {
		if name = textproto.CanonicalMIMEHeaderKey(name); header[name] == nil {
			header[name] = []string{value}
		}
	}
	for name, values := range header {
		if !validHeader(name, values) {
			return nil, false
		}
	}
	return header, true
}

// token is what methods and names of headers are made of (RFC 9110, 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// validHeader allows any text in a value, but no control characters (RFC 9110, 5.5).
func validHeader(name string, values []string) bool {
	control := func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7F }
	return token.MatchString(name) && !slices.ContainsFunc(values, func(value string) bool {
		return strings.ContainsFunc(value, control)
	})
}

// drop takes away what a handler must not see, once the host was read.
func drop(header http.Header) {
	for name := range header {
		if unwanted[name] || strings.HasPrefix(name, adapterPrefix) {
			delete(header, name)
		}
	}
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// hostOf is the name that the caller used, or "" if no event would have it.
func hostOf(e events.APIGatewayProxyRequest, header http.Header) string {
	host := cmp.Or(e.RequestContext.DomainName, header.Get("Host"))
	drop(header)
	if len(host) > 260 || !hostForm.MatchString(host) { // a DNS name has at most 253 bytes (RFC 1035)
		return ""
	}
	return host
}
