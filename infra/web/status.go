// Package web has the parts that all HTTP handlers share: the mapping from error
// codes to statuses, the error envelope, entity tags, sealed cursors, the middleware
// of every request, and the two servers.
//
// The order of the middleware on the root router is Identify, Observe, Locate, Harden,
// Recover. On the group of API routes follow LimitBody, feature flags, authentication,
// authorization, Admission.Receive, Budget, Admission.Serve, Unless, Streams and the
// contract's validation, in this order.
package web

import (
	"net/http"

	"netsim/fault"
)

// Status returns the HTTP status of an error code (completions.md section 1.3), or
// 500 for an unknown code.
func Status(code fault.Code) int {
	status, ok := statusOf(code)
	if !ok {
		return http.StatusInternalServerError
	}
	return status
}

func statusOf(code fault.Code) (status int, known bool) {
	switch code {
	case fault.MultipleChoices:
		return http.StatusMultipleChoices, true
	case fault.Validation:
		return http.StatusBadRequest, true
	case fault.Unauthorized:
		return http.StatusUnauthorized, true
	case fault.PaymentRequired:
		return http.StatusPaymentRequired, true
	case fault.Forbidden:
		return http.StatusForbidden, true
	case fault.NotFound:
		return http.StatusNotFound, true
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed, true
	case fault.NotAcceptable:
		return http.StatusNotAcceptable, true
	case fault.Conflict, fault.MappingFileDeletedReference, fault.MappingRequiresTraceset,
		fault.MappingFileHashCollision, fault.TracesetConflictsWithMapping:
		return http.StatusConflict, true
	case fault.Gone, fault.MappingFileDeleted:
		return http.StatusGone, true
	case fault.PreconditionFailed:
		return http.StatusPreconditionFailed, true
	case fault.PayloadTooLarge:
		return http.StatusRequestEntityTooLarge, true
	case fault.UnsupportedMediaType:
		return http.StatusUnsupportedMediaType, true
	case fault.Unprocessable, fault.MappingRequiresChakraApp, fault.MappingRankCountMismatch,
		fault.MappingFileInvalid, fault.MappingParamsLocked:
		return http.StatusUnprocessableEntity, true
	case fault.PreconditionRequired:
		return http.StatusPreconditionRequired, true
	case fault.RateLimited:
		return http.StatusTooManyRequests, true
	case fault.Internal:
		return http.StatusInternalServerError, true
	case fault.NotImplemented:
		return http.StatusNotImplemented, true
	case fault.BadGateway:
		return http.StatusBadGateway, true
	case fault.Unavailable:
		return http.StatusServiceUnavailable, true
	case fault.GatewayTimeout:
		return http.StatusGatewayTimeout, true
	}
	return 0, false
}
