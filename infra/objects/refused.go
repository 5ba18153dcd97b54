package objects

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// noSuchUpload is S3's error code for a multipart upload that has ended or was lost.
const noSuchUpload = "NoSuchUpload"

// Failed reports whether the error comes from a call to the store.
func Failed(err error) bool {
	_, ok := errors.AsType[*smithy.OperationError](err)
	return ok
}

// Refused reports whether the store has refused the call, and returns the store's
// error code. The reason may be, for example, that the key is too long, access is
// denied, or the disk is full. Refused returns false when the store is down or
// overloaded, or does not have the object.
func Refused(err error) (code string, refused bool) {
	answer, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if !ok {
		return "", false
	}
	status := answer.HTTPStatusCode()
	code = strings.ReplaceAll(http.StatusText(status), " ", "")
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() != "" {
		code = api.ErrorCode()
	}
	switch status {
	case http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return code, false
	}
	return code, status/100 == 4 || status == http.StatusInsufficientStorage
}
