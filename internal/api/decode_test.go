package api

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloche/internal/snippet"
)

func TestDecode(t *testing.T) {
	for body, want := range map[string]snippet.Request{
		`{"code":"print(1)"}`: {Code: "print(1)"},
		" \r\n\t" + `{"code":"\u00e9\ud83d\ude00 漢","timeout_ms":100,"stdin":"\u0000x"} `: {Code: "é😀 漢", Timeout: 100 * time.Millisecond, Stdin: "\x00x"},
		`{"code":"1","timeout_ms":null,"stdin":null,"files":null}`:                        {Code: "1"},
		`{"code":"1","timeout_ms":5000.0}`:                                                {Code: "1", Timeout: 5 * time.Second},
		`{"code":"1","timeout_ms":2E4,"files":[]}`:                                        {Code: "1", Timeout: 20 * time.Second},
		`{"code":"1","files":[{"path":"a","content":""},
			{"path":"b","content":"é","encoding":null},
			{"path":"c","content":"é\n","encoding":"utf-8"},
			{"path":"d/e","content":"AP8=","encoding":"base64"}]}`: {Code: "1", Files: []snippet.File{
			{Path: "a", Content: []byte{}},
			{Path: "b", Content: []byte("é")},
			{Path: "c", Content: []byte("é\n")},
			{Path: "d/e", Content: []byte{0, 255}},
		}},
	} {
		got, err := decode([]byte(body))
		if err != nil {
			t.Errorf("%.80s: %v", body, err)
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%.80s (-want +got):\n%s", body, d)
		}
	}
}

// notJSON are bodies that are refused as a whole.
var notJSON = []string{
	"", " ", "null", "[]", "5", "true", `"print(1)"`, "{", "}", `{"code"`, `{"code":"1"`, "{'code': 'x'}", "code=print(1)",
	`{"code": "print(1)"} trailing`, `{"code":"1"}{"code":"2"}`, `{"code":"1"},`, `{"code":"1",}`, `{"code":"1"}` + "\x00",
	`{"code": "print(1)", "code": "print(2)"}`, `{"code":"1","\u0063ode":"2"}`,
	`{"code": "print(1)", "timeout_ms": NaN}`, `{"code":"1","timeout_ms":Infinity}`, `{"code":"1","timeout_ms":+5}`,
	`{"code":"1","timeout_ms":0x10}`, `{"code":"1","timeout_ms":05000}`, `{"code":"1","timeout_ms":}`,
	`{"code":"\ud800"}`, `{"code":"\udc00\ud800"}`, "{\"code\":\"\xed\xa0\x80\"}", "{\"code\":\"\xff\"}", "\ufeff" + `{"code":"1"}`,
	"{\"code\":\"1\n2\"}", `{"code":"\x41"}`, `{"code":"1"/*c*/}`, "{\"code\":\"1\x00\"}",
	`{"code": "print(1)", "x": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
	strings.Repeat("[", 100_000), strings.Repeat(`{"code":`, 100_000),
}

func TestDecodeNotJSON(t *testing.T) {
	for _, body := range notJSON {
		_, err := decode([]byte(body))
		var syntax *syntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.60q: error is %T %v", body, err, err)
		}
	}
}

// Text that is not valid Unicode is not called a fault of the JSON around it.
func TestDecodeTellsTextFromJSON(t *testing.T) {
	for body, want := range map[string]string{
		`{"code":"\ud800"}`: "Unicode", "{\"code\":\"\xff\"}": "Unicode", `{"code":"1","x":{"\udc00":1}}`: "Unicode", `{"\ud800":1}`: "Unicode",
		"{\"code\":\"1\"}\xff": "goes on", "{\xff}": "JSON", `{"code":"\x41"}`: "JSON", `{"code":"\ud800"`: "JSON",
	} {
		if _, err := decode([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", body, err, want)
		}
	}
}

// badFields are bodies with a fault in fields, and the fields.
var badFields = map[string]string{
	`{}`:                        "code",
	`{"stuff": 1}`:              "stuff code",
	`{"Code": "1"}`:             "Code code",
	`{"code": null}`:            "code",
	`{"code": 5}`:               "code",
	`{"code": true}`:            "code",
	`{"code": ["print(1)"]}`:    "code",
	`{"code": {"a": 1}}`:        "code",
	`{"code": ""}`:              "code",
	`{"code": " \ufeff\n\t"}`:   "code",
	`{"code": "1\u0000print2"}`: "code",
	`{"code":"` + strings.Repeat("x", snippet.MaxCode+1) + `"}`:              "code",
	`{"code":"1","stdin":"` + strings.Repeat("x", snippet.MaxStdin+1) + `"}`: "stdin",
	`{"code":"1","stdin":5}`: "stdin",

	`{"code":"1","timeout_ms":0}`:                                     "timeout_ms",
	`{"code":"1","timeout_ms":-0.0}`:                                  "timeout_ms",
	`{"code":"1","timeout_ms":-1}`:                                    "timeout_ms",
	`{"code":"1","timeout_ms":99}`:                                    "timeout_ms",
	`{"code":"1","timeout_ms":20001}`:                                 "timeout_ms",
	`{"code":"1","timeout_ms":1000.5}`:                                "timeout_ms",
	`{"code":"1","timeout_ms":1e300}`:                                 "timeout_ms",
	`{"code":"1","timeout_ms":1e999}`:                                 "timeout_ms",
	`{"code":"1","timeout_ms":-1e999}`:                                "timeout_ms",
	`{"code":"1","timeout_ms":18446744073709551716}`:                  "timeout_ms", // 100 after a wrap at 64 bits
	`{"code":"1","timeout_ms":4294967396}`:                            "timeout_ms", // 100 after a wrap at 32 bits
	`{"code":"1","timeout_ms":"5"}`:                                   "timeout_ms",
	`{"code":"1","timeout_ms":"5000"}`:                                "timeout_ms",
	`{"code":"1","timeout_ms":true}`:                                  "timeout_ms",
	`{"code":"1","timeout_ms":false}`:                                 "timeout_ms",
	`{"code":"1","timeout_ms":[]}`:                                    "timeout_ms",
	`{"code":"1","timeout_ms":{}}`:                                    "timeout_ms",
	`{"code":"1","timeout_ms":1` + strings.Repeat("0", 100_000) + `}`: "timeout_ms",

	`{"code":"1","env":{"LD_PRELOAD":"/x"},"cwd":"/","args":["-c"]}`: "env cwd args",
	`{"code":"1","unknown_field":{"x":[1,2]}}`:                       "unknown_field",
	`{"code":"1","` + strings.Repeat("é", 100) + `":1}`:              strings.Repeat("é", 64) + "…",

	`{"code":"1","files":{"a":"eA=="}}`:                                            "files",
	`{"code":"1","files":"a"}`:                                                     "files",
	`{"code":"1","files":["a",null,[]]}`:                                           "files[0] files[1] files[2]",
	`{"code":"1","files":[{"path":"a","path":"b","content":""}]}`:                  "files[0]",
	`{"code":"1","files":[{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1}]}`:     "files[0]",
	`{"code":"1","files":[{}]}`:                                                    "files[0].content files[0].path",
	`{"code":"1","files":[{"path":5,"content":5}]}`:                                "files[0].path files[0].content",
	`{"code":"1","files":[{"path":"a","content":null}]}`:                           "files[0].content",
	`{"code":"1","files":[{"path":"a","content":"","mode":511}]}`:                  "files[0].mode",
	`{"code":"1","files":[{"path":"a","content":"","encoding":"latin-1"}]}`:        "files[0].encoding",
	`{"code":"1","files":[{"path":"a","content":"","encoding":""}]}`:               "files[0].encoding",
	`{"code":"1","files":[{"path":"a","content":"","encoding":5}]}`:                "files[0].encoding",
	`{"code":"1","files":[{"path":"a","content":"eA=","encoding":"base64"}]}`:      "files[0].content",
	`{"code":"1","files":[{"path":"a","content":"eA","encoding":"base64"}]}`:       "files[0].content",
	`{"code":"1","files":[{"path":"a","content":"eB==","encoding":"base64"}]}`:     "files[0].content", // stray bits
	`{"code":"1","files":[{"path":"a","content":"eA==\n","encoding":"base64"}]}`:   "files[0].content",
	`{"code":"1","files":[{"path":"a","content":"_-==","encoding":"base64"}]}`:     "files[0].content",
	`{"code":"1","files":[{"path":"a","content":"eA==eA==","encoding":"base64"}]}`: "files[0].content",

	`{"code":"1","files":[{"path":"../up.txt","content":""}]}`:                                                                          "files[0].path",
	`{"code":"1","files":[{"path":"ok","content":""},{"path":"a/../../up","content":""}]}`:                                              "files[1].path",
	`{"code":"1","files":[{"path":"/etc/cron.d/x","content":""}]}`:                                                                      "files[0].path",
	`{"code":"1","files":[{"path":"~/x","content":""}]}`:                                                                                "files[0].path",
	`{"code":"1","files":[{"path":"a\u0000b","content":""}]}`:                                                                           "files[0].path",
	`{"code":"1","files":[{"path":"d/x.txt","content":""},{"path":"d","content":""}]}`:                                                  "files[0].path",
	`{"code":"1","files":[{"path":"d","content":""},{"path":"d","content":""}]}`:                                                        "files[1].path",
	`{"code":"1","files":[` + strings.Repeat(`{},`, 1_000_000) + `{}]}`:                                                                 "files",
	`{"timeout_ms":1,"stdin":[],"files":[{"path":"","content":"!","encoding":"base64"}],"a":1}`:                                         "stdin timeout_ms files[0].content files[0].path code a",
	`{"code":"1","files":[{"path":"a","content":"` + strings.Repeat("A", 4<<20) + `","encoding":"base64"},{"path":"b","content":"x"}]}`: "files",
}

func TestDecodeNamesFields(t *testing.T) {
	for body, want := range badFields {
		_, err := decode([]byte(body))
		var fields snippet.FieldErrors
		if !errors.As(err, &fields) {
			t.Errorf("%.80s: error is %T %.100v", body, err, err)
			continue
		}
		for name := range strings.FieldsSeq(want) {
			if !fields.Covers(name) {
				t.Errorf("%.80s: %s is not named: %v", body, name, fields)
			}
		}
		if want != "files" && len(fields) != len(strings.Fields(want)) {
			t.Errorf("%.80s: want %s, got %v", body, want, fields)
		}
	}
}

func TestDecodeNeverEchoes(t *testing.T) {
	const canary = "c4n4ry"
	for _, body := range []string{
		`{"code":"c4n4ry\u0000"}`, `{"code":["c4n4ry"]}`, `{"code":"1","timeout_ms":"c4n4ry"}`, `{"code":"c4n4ry`, `{"code":"c4n4ry\ud800"}`,
		`{"code":"1","files":[{"path":"../c4n4ry","content":"c4n4ry","encoding":"c4n4ry"}]}`, `{"code":"c4n4ry" c4n4ry`,
		`{"code":"1","files":[{"path":"a","content":"c4n4ry!","encoding":"base64"}]}`, `{"code":"1","code":"c4n4ry"}`, `"c4n4ry"`,
	} {
		if _, err := decode([]byte(body)); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: error is missing or repeats the body: %v", body, err)
		}
	}
	many := ""
	for i := range 1000 {
		many += fmt.Sprintf(`,"x%d":0`, i)
	}
	_, err := decode([]byte("{" + many[1:] + "}"))
	if n := strings.Count(err.Error(), "not a field"); n != maxUnknown {
		t.Errorf("%d of many unknown fields are named", n)
	}
}

// FuzzDecode holds the decoder against the standard library's: what ours takes,
// that one reads the same way.
func FuzzDecode(f *testing.F) {
	for _, body := range notJSON {
		f.Add([]byte(body[:min(len(body), 4096)]))
	}
	for body := range badFields {
		f.Add([]byte(body[:min(len(body), 4096)]))
	}
	f.Add([]byte(`{"code":"1","timeout_ms":5e3,"stdin":"","files":[{"path":"a","content":"eA==","encoding":"base64"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := decode(body)
		if err != nil {
			var syntax *syntaxError
			var fields snippet.FieldErrors
			if !errors.As(err, &syntax) && (!errors.As(err, &fields) || len(fields) == 0) {
				t.Errorf("error is a %T: %v", err, err)
			}
			return
		}
		if err := snippet.Validate(req); err != nil {
			t.Errorf("decoded what is not valid: %v", err)
		}
		sameAsStandard(t, body, req)
	})
}

func sameAsStandard(t *testing.T, body []byte, req snippet.Request) {
	var plain struct {
		Code      string   `json:"code"`
		TimeoutMS *float64 `json:"timeout_ms"`
		Stdin     string   `json:"stdin"`
		Files     []struct {
			Path     string `json:"path"`
			Content  string `json:"content"`
			Encoding string `json:"encoding"`
		} `json:"files"`
	}
	strict := stdjson.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&plain); err != nil {
		t.Fatalf("the standard decoder refuses it: %v", err)
	}
	if plain.Code != req.Code || plain.Stdin != req.Stdin || len(plain.Files) != len(req.Files) {
		t.Errorf("decoded %+v, want %+v", req, plain)
	}
	if ms := plain.TimeoutMS; ms != nil && float64(req.Timeout.Milliseconds()) != *ms {
		t.Errorf("timeout %v, want %v ms", req.Timeout, *ms)
	}
	for i, file := range plain.Files {
		content := []byte(file.Content)
		if file.Encoding == "base64" {
			content, _ = base64.StdEncoding.DecodeString(file.Content)
		}
		if req.Files[i].Path != file.Path || !bytes.Equal(req.Files[i].Content, content) {
			t.Errorf("file %d: %+v, want %+v", i, req.Files[i], file)
		}
	}
}
