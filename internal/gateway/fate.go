package gateway

import (
	"errors"
	"net"
	"net/http"
	"slices"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
)

// fate is what became of a job that was sent and not answered.
type fate int

// The fates. The zero value is the one in which a repeat could run a snippet
// twice: whatever nobody thought of has it.
const (
	lost    fate = iota // it may have run
	refused             // it did not run, and would not at once
	passing             // it did not run, and may the next time
)

// Errors of Lambda that mean that no function was called. The second list is
// about the runner's network, which is not there yet or not at all; they come
// with statuses from 500 on.
var (
	passingCodes = []string{
		"TooManyRequestsException", "ENINotReadyException", "ResourceNotReadyException", "CodeArtifactUserPendingException",
	}
	networkCodes = []string{
		"EC2AccessDeniedException", "EC2ThrottledException", "EC2UnexpectedException", "ENILimitReachedException",
		"InvalidSecurityGroupIDException", "InvalidSubnetIDException", "SubnetIPAddressLimitReachedException",
	}
)

// fateOf reads an error of Invoke. A function that was idle for weeks is
// Inactive; its next call is refused with one of the codes or with a conflict,
// and wakes it.
func fateOf(err error) fate {
	var service smithy.APIError
	var response *awshttp.ResponseError
	var network *net.OpError
	switch {
	case errors.As(err, &service) && slices.Contains(passingCodes, service.ErrorCode()):
		return passing
	case errors.As(err, &service) && slices.Contains(networkCodes, service.ErrorCode()):
		return refused
	case errors.As(err, &service) && errors.As(err, &response) && isRefusal(response.HTTPStatusCode()):
		return refused
	case errors.As(err, &network) && network.Op == "dial":
		return passing
	}
	return lost
}

// isRefusal holds for the statuses of requests that are at fault themselves.
func isRefusal(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusRequestTimeout
}
