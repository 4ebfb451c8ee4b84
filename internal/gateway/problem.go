package gateway

import (
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
)

// problem is a refusal as RFC 9457 has it, in the shape that the API has too.
type problem struct {
	Type   string   `json:"type"`
	Title  string   `json:"title"`
	Status int      `json:"status"`
	Detail string   `json:"detail"`
	Errors []string `json:"errors"` // always empty: what is wrong here is in no field
}

// Faults of ours have one text: the log says more.
const ourFault = "Something is wrong on our side; the log says what."

func refuse(status int, detail string) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

func (p *problem) body() []byte {
	body, _ := json.Marshal(p) // plain text and a number: cannot fail
	return body
}

func (p *problem) header() http.Header {
	return http.Header{
		"Content-Type":           {"application/problem+json"},
		"Cache-Control":          {"no-store"},
		"X-Content-Type-Options": {"nosniff"},
	}
}

func (p *problem) response() events.APIGatewayProxyResponse {
	return events.APIGatewayProxyResponse{
		StatusCode: p.Status, MultiValueHeaders: p.header(), Body: string(p.body()),
	}
}
