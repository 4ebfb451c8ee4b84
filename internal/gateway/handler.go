package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reserve is the time at the end of an invocation that handlers do not see in
// their context: it is for recording and answering.
const reserve = 2 * time.Second

// RecordTime is the part of the reserve in which a run can be recorded. The rest
// is for what follows: a line in the log, should the record fail, and the answer.
const RecordTime = reserve - 500*time.Millisecond

// maxResponse is the largest answer that Lambda takes, in bytes (AWS Lambda
// developer guide, quotas).
const maxResponse = 6_291_556

// Handler serves an http.Handler to API Gateway's REST APIs. It is a lambda.Handler.
type Handler struct {
	adapter *httpadapter.HandlerAdapter
	log     *slog.Logger
}

// New makes a Handler. The log gets its own faults, and panics.
func New(h http.Handler, log *slog.Logger) *Handler {
	return &Handler{adapter: httpadapter.New(sealed{h, log}), log: log}
}

// Invoke answers one event. It never returns an error, which the caller would
// see as 502 without a word: every fault is a problem document.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	body, err := encode(h.answer(ctx, payload))
	if err == nil && len(body) > maxResponse {
		err = fmt.Errorf("the answer has %d bytes", len(body))
	}
	if err != nil {
		h.log.ErrorContext(ctx, "encode answer", slog.String("cause", err.Error()))
		body, _ = encode(refuse(http.StatusInternalServerError, ourFault).response()) // plain text: cannot fail
	}
	return body, nil
}

func encode(v any) ([]byte, error) {
	return json.Marshal(v, jsontext.AllowInvalidUTF8(true))
}

func (h *Handler) answer(ctx context.Context, payload []byte) (response events.APIGatewayProxyResponse) {
	defer func() {
		if fault := recover(); fault != nil {
			h.log.ErrorContext(ctx, "panic", slog.String("cause", fmt.Sprint(fault)), slog.String("stack", string(debug.Stack())))
			response = refuse(http.StatusInternalServerError, ourFault).response()
		}
	}()
	event, p := readEvent(payload)
	if p != nil {
		return p.response()
	}
	ctx, cancel := shorter(ctx)
	defer cancel()
	response, err := h.adapter.ProxyWithContext(ctx, event)
	if err != nil {
		h.log.ErrorContext(ctx, "convert event", slog.String("cause", err.Error()))
		return refuse(http.StatusBadRequest, "The event is not one of a REST API.").response()
	}
	return response
}

// shorter is ctx without the reserve.
func shorter(ctx context.Context) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-reserve))
}
