package objects

import (
	"context"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	copyWhole = 1 << 30 // bytes; S3 copies at most 5 GB at once
	copyPart  = 1 << 30
)

// Copy copies an object within the store; the content does not pass through this
// process. It replaces an existing object.
func (s *Store) Copy(ctx context.Context, from, to string) error {
	info, err := s.Head(ctx, from)
	if err != nil {
		return err
	}
	source := s.source(from)
	if info.Size > copyWhole {
		return s.copyParts(ctx, source, to, info)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*callTimeout)
	defer cancel()
	_, err = s.client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: &s.bucket, Key: &to, CopySource: &source})
	return wrap(err, "copy "+from+" to", to)
}

// source encodes the source of a copy. It escapes a plus, because some stores decode
// that as a space.
func (s *Store) source(key string) string {
	return s.bucket + "/" + strings.ReplaceAll((&url.URL{Path: key}).EscapedPath(), "+", "%2B")
}

// copyParts copies an object part by part.
func (s *Store) copyParts(ctx context.Context, source, to string, info Info) error {
	id, err := s.BeginParts(ctx, to, info.ContentType)
	if err != nil {
		return err
	}
	var parts []types.CompletedPart
	for offset := int64(0); offset < info.Size; offset += copyPart {
		number := int32(len(parts) + 1)
		tag, err := s.copyPart(ctx, source, to, id, number, offset, min(copyPart, info.Size-offset))
		if err != nil {
			_ = s.DropParts(context.WithoutCancel(ctx), to, id) // the first error is returned
			return err
		}
		parts = append(parts, types.CompletedPart{PartNumber: &number, ETag: &tag})
	}
	joining, cancel := context.WithTimeout(ctx, 10*callTimeout)
	defer cancel()
	_, err = s.client.CompleteMultipartUpload(joining, &s3.CompleteMultipartUploadInput{
		Bucket: &s.bucket, Key: &to, UploadId: &id, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	return wrap(err, "copy to", to)
}
