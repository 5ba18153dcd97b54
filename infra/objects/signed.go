package objects

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/middleware"
)

type hashKey struct{}

// hashed returns the context of a call whose content has this SHA-256, in hex. The
// signature then names it, and the content is not hashed again. The store refuses other
// content, over TLS too, where the SDK would not sign the content.
func hashed(ctx context.Context, sum string) context.Context {
	return context.WithValue(ctx, hashKey{}, sum)
}

// signHash is the client option that signs with the hash of the call's context. The SDK
// forgets a hash that is set before a call, so it is set in the call.
func signHash(s *middleware.Stack) error {
	return s.Initialize.Add(middleware.InitializeMiddlewareFunc("netsimHash", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		if sum, ok := ctx.Value(hashKey{}).(string); ok {
			ctx = v4.SetPayloadHash(ctx, sum)
		}
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}
