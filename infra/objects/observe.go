package objects

import (
	"context"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// observe returns the client options that report every call. A call and its retries
// are reported once. Presigning a link is not a call.
func observe(report func(operation string, took time.Duration, err error)) []func(*middleware.Stack) error {
	if report == nil {
		return nil
	}
	call := middleware.FinalizeMiddlewareFunc("netsimObserve", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		began := time.Now()
		out, meta, err := next.HandleFinalize(ctx, in)
		report(awsmiddleware.GetOperationName(ctx), time.Since(began), err)
		return out, meta, err
	})
	return []func(*middleware.Stack) error{func(s *middleware.Stack) error {
		return s.Finalize.Add(call, middleware.Before)
	}}
}
