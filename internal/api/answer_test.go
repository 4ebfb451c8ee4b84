package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloche/internal/snippet"
)

// quotes is a verdict with files that take 6 MiB as JSON.
func quotes(context.Context, snippet.Job) (snippet.Result, error) {
	content := strings.Repeat(`"`, 1<<20)
	files := make([]snippet.Artifact, 3)
	for i := range files {
		files[i] = snippet.Artifact{Path: fmt.Sprint(i), Size: 1 << 20, Content: &content, Encoding: "utf-8"}
	}
	return snippet.Result{Outcome: snippet.OK, Reason: snippet.Completed, Files: files}, nil
}

func TestSlowReadersGiveWay(t *testing.T) {
	b := serve(t, nil)
	b.runner.answer = quotes
	ask := head + "Content-Length: 12\r\n\r\n" + `{"code":"1"}`
	var slow []*raw
	for range 3 * largeAnswers / (6 << 20) {
		c := b.dial(t)
		_ = c.Conn.(*net.TCPConn).SetReadBuffer(4096)
		c.send(t, ask)
		if _, err := c.in.Peek(1); err != nil { // its answer has begun
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	s := b.inside
	s.answers.mu.Lock()
	if s.answers.left < 0 || s.answers.left > largeAnswers/2 || len(s.answers.waiting) > largeAnswers/(6<<20) {
		t.Errorf("%d answers wait, %d bytes are left", len(s.answers.waiting), s.answers.left)
	}
	s.answers.mu.Unlock()

	var got snippet.Result
	r := b.post(t, `{"code":"1"}`)
	if err := json.Unmarshal(r.body, &got); err != nil || len(got.Files) != 3 || len(*got.Files[2].Content) != 1<<20 {
		t.Errorf("who reads: status %d, %d bytes, %v", r.status, len(r.body), err)
	}
	b.runner.answer = nil
	if r := b.post(t, `{"code":"small"}`); r.status != 200 {
		t.Errorf("a small answer: status %d", r.status)
	}
	for _, c := range slow {
		_ = c.Close()
	}
	eventually(t, "all is given back", func() bool {
		s.answers.mu.Lock()
		defer s.answers.mu.Unlock()
		return s.answers.left == largeAnswers && len(s.answers.waiting) == 0
	})
}

// stuck is a caller that takes one piece of an answer and then nothing.
type stuck struct {
	header http.Header
	pieces []int
	until  []time.Time
}

func (s *stuck) Header() http.Header { return s.header }
func (s *stuck) WriteHeader(int)     {}

func (s *stuck) SetWriteDeadline(until time.Time) error {
	s.until = append(s.until, until)
	return nil
}

func (s *stuck) Write(p []byte) (int, error) {
	if s.pieces = append(s.pieces, len(p)); len(s.pieces) > 1 {
		return 0, errors.New("nothing is read")
	}
	return len(p), nil
}

// Each piece of an answer has a time of its own, and after one that is not taken
// there are no more.
func TestAnswersAreSentInPieces(t *testing.T) {
	began := time.Now()
	for _, held := range []bool{true, false} {
		w := &stuck{header: http.Header{}}
		var part *share
		if held {
			part = newBudget(largeAnswers).open(w.SetWriteDeadline)
		}
		send(w, 200, jsonType, make([]byte, 3*pieceBytes), part)
		if len(w.pieces) != 2 || w.pieces[0] != pieceBytes || len(w.until) != 2 {
			t.Errorf("pieces %v, deadlines %v", w.pieces, w.until)
		}
		for _, until := range w.until {
			if until.Before(began.Add(answerPace)) || until.After(time.Now().Add(answerPace)) {
				t.Errorf("deadline %v after the begin", until.Sub(began))
			}
		}
	}
}

// What is taken before encoding is near to what is needed.
func TestEncodedSize(t *testing.T) {
	plain, binary, empty := strings.Repeat("text \"quoted\"\n\t\\\r", 100_000), strings.Repeat("QUJD", 100_000), ""
	for _, content := range []*string{&plain, &binary, &empty, nil} {
		r := snippet.Result{
			Outcome: snippet.OK, Reason: snippet.Completed, Stdout: plain[:4000],
			Files: []snippet.Artifact{{Path: "a", Content: content}, {Path: "b", Content: content}},
		}
		body, err := encode(r)
		if guess := encodedSize(r); err != nil || guess < int64(len(body)) || guess > int64(len(body))+2*smallAnswer {
			t.Errorf("guessed %d for %d bytes, error %v", guess, len(body), err)
		}
	}
	if encodedSize(Health{}) != 0 {
		t.Error("another answer has a guess")
	}
}
