package objects

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"netsim/fault"
)

// Part is one part of an object that a client uploads.
type Part struct {
	Number int32  // from 1
	ETag   string // from the store's answer to the client's PUT
}

// BeginParts begins a multipart upload and returns the store's id of it. Clients put
// the parts to links of PresignPart.
func (s *Store) BeginParts(ctx context.Context, key, contentType string) (id string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &s.bucket, Key: &key, ContentType: &contentType,
	})
	if err != nil {
		return "", wrap(err, "begin", key)
	}
	return aws.ToString(out.UploadId), nil
}

// PresignPart returns a link to which a client puts a part. A part that is put again
// replaces the earlier one. PresignPart makes no request.
func (s *Store) PresignPart(ctx context.Context, key, id string, number int32, ttl time.Duration) (Link, error) {
	signed := s.now().UTC().Truncate(time.Second)
	request, err := s.presign.PresignUploadPart(ctx, &s3.UploadPartInput{
		Bucket: &s.bucket, Key: &key, UploadId: &id, PartNumber: &number,
	}, func(o *s3.PresignOptions) {
		o.Expires = ttl
		o.Presigner = signerAt{at: signed, signer: o.Presigner}
	})
	if err != nil {
		return Link{}, fmt.Errorf("presign part %d of %s: %w", number, key, err)
	}
	end, err := s.until(ctx, signed, ttl)
	return Link{URL: request.URL, Expires: end}, err
}

// JoinParts makes the object from its parts, in ascending order. The error is
// fault.Validation when parts are missing, have other entity tags or are too small.
// If the upload has ended and the object exists, JoinParts does nothing, whatever
// the object's content.
func (s *Store) JoinParts(ctx context.Context, key, id string, parts []Part) error {
	ctx, cancel := context.WithTimeout(ctx, 10*callTimeout) // the store may copy the parts during the call
	defer cancel()
	list := make([]types.CompletedPart, len(parts))
	for i, p := range parts {
		list[i] = types.CompletedPart{PartNumber: aws.Int32(p.Number), ETag: aws.String(p.ETag)}
	}
	_, err := s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &s.bucket, Key: &key, UploadId: &id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: list},
	})
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return wrap(err, "join the parts of", key)
	}
	switch api.ErrorCode() {
	case "InvalidPart", "InvalidPartOrder", "EntityTooSmall", "MalformedXML", "InvalidArgument":
		return &fault.Fault{
			Code: fault.Validation, Message: "parts do not match what was uploaded",
			Cause: fmt.Errorf("join the parts of %s: %w", key, err),
		}
	case noSuchUpload: // already joined or aborted
		_, found := s.Head(ctx, key)
		return found
	}
	return wrap(err, "join the parts of", key)
}

// DropParts removes the parts of an upload. It does nothing if they are already
// joined or dropped.
func (s *Store) DropParts(ctx context.Context, key, id string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: &key, UploadId: &id})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == noSuchUpload {
		return nil
	}
	return wrap(err, "drop the parts of", key)
}
