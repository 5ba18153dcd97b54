package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// ErrExists is wrapped by the error of PutNew when there is an object with this key.
var ErrExists = errors.New("the object exists")

// PutNew writes an object of at most a few megabytes unless there is one with this key
// (If-None-Match). Of several calls at the same time one succeeds. After a call whose
// answer was lost, the next one finds the object of the first. A store without
// conditional writes may ignore the condition and replace the object.
func (s *Store) PutNew(ctx context.Context, key, contentType string, content []byte) error {
	ctx, cancel := context.WithTimeout(ctx, partTimeout)
	defer cancel()
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.bucket, Key: &key, ContentType: &contentType, IfNoneMatch: aws.String("*"),
		Body: bytes.NewReader(content), ContentLength: aws.Int64(int64(len(content))),
	})
	if answer, is := errors.AsType[*smithyhttp.ResponseError](err); is && answer.HTTPStatusCode() == http.StatusPreconditionFailed {
		return fmt.Errorf("put %s: %w", key, ErrExists)
	}
	return wrap(err, "put", key)
}
