package objects

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"netsim/fault"
)

// PutPart is a part that a client has put.
type PutPart struct {
	Part

	Size int64 // bytes
}

// ListParts lists the parts that clients have put, by number. The error is
// fault.NotFound if the parts are already joined or dropped.
func (s *Store) ListParts(ctx context.Context, key, id string) ([]PutPart, error) {
	var all []PutPart
	pages := s3.NewListPartsPaginator(s.client, &s3.ListPartsInput{Bucket: &s.bucket, Key: &key, UploadId: &id})
	for pages.HasMorePages() {
		page, err := s.partsPage(ctx, pages)
		if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == noSuchUpload {
			return nil, &fault.Fault{Code: fault.NotFound, Message: "upload not found", Cause: fmt.Errorf("list the parts of %s: %w", key, err)}
		}
		if err != nil {
			return nil, wrap(err, "list the parts of", key)
		}
		for _, p := range page.Parts {
			all = append(all, PutPart{Part{aws.ToInt32(p.PartNumber), aws.ToString(p.ETag)}, aws.ToInt64(p.Size)})
		}
	}
	return all, nil
}

func (s *Store) partsPage(ctx context.Context, pages *s3.ListPartsPaginator) (*s3.ListPartsOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return pages.NextPage(ctx)
}

// Same reports whether two parts have the same number and content. It ignores the
// quotes of the tags.
func (p Part) Same(other Part) bool {
	return p.Number == other.Number && strings.Trim(p.ETag, `"`) == strings.Trim(other.ETag, `"`)
}

// Begun is a multipart upload whose parts are neither joined nor dropped.
type Begun struct {
	Key string
	ID  string    // the store's id
	At  time.Time // when it began
}

// ListBegun iterates over the unfinished multipart uploads under the prefix. It
// ends after the first error.
func (s *Store) ListBegun(ctx context.Context, prefix string) iter.Seq2[Begun, error] {
	return func(yield func(Begun, error) bool) {
		pages := s3.NewListMultipartUploadsPaginator(s.client, &s3.ListMultipartUploadsInput{Bucket: &s.bucket, Prefix: &prefix})
		for pages.HasMorePages() {
			page, err := s.begunPage(ctx, pages)
			if err != nil {
				yield(Begun{}, wrap(err, "list uploads to", prefix))
				return
			}
			for _, u := range page.Uploads {
				if !yield(Begun{aws.ToString(u.Key), aws.ToString(u.UploadId), aws.ToTime(u.Initiated)}, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) begunPage(ctx context.Context, pages *s3.ListMultipartUploadsPaginator) (*s3.ListMultipartUploadsOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return pages.NextPage(ctx)
}
