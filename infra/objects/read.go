package objects

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Info describes an object.
type Info struct {
	Key         string
	Size        int64  // bytes
	ContentType string // not in listings
	ETag        string // as the store computes it
	CRC64NVME   string // base64, of the whole object; empty in listings, or if the store has none
	Modified    time.Time
}

// Get opens the object. The caller closes the reader; the end of ctx also ends it.
func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return nil, Info{}, wrap(err, "get", key)
	}
	return out.Body, Info{
		Key:         key,
		Size:        aws.ToInt64(out.ContentLength),
		ContentType: aws.ToString(out.ContentType),
		ETag:        aws.ToString(out.ETag),
		CRC64NVME:   aws.ToString(out.ChecksumCRC64NVME),
		Modified:    aws.ToTime(out.LastModified),
	}, nil
}

// GetRange opens n bytes of the object from an offset on; fewer if it is shorter. The
// caller closes the reader.
func (s *Store) GetRange(ctx context.Context, key string, at, n int64) (io.ReadCloser, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.bucket, Key: &key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", at, at+n-1)),
	})
	if err != nil {
		return nil, wrap(err, "get", key)
	}
	return out.Body, nil
}

// Head describes the object without opening it.
func (s *Store) Head(ctx context.Context, key string) (Info, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket: &s.bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return Info{}, wrap(err, "head", key)
	}
	return Info{
		Key:         key,
		Size:        aws.ToInt64(out.ContentLength),
		ContentType: aws.ToString(out.ContentType),
		ETag:        aws.ToString(out.ETag),
		CRC64NVME:   aws.ToString(out.ChecksumCRC64NVME),
		Modified:    aws.ToTime(out.LastModified),
	}, nil
}

// List iterates over the objects whose keys begin with prefix, in key order. It
// ends after the first error.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix})
		for pages.HasMorePages() {
			page, err := s.listPage(ctx, pages)
			if err != nil {
				yield(Info{}, wrap(err, "list", prefix))
				return
			}
			for _, o := range page.Contents {
				info := Info{
					Key:      aws.ToString(o.Key),
					Size:     aws.ToInt64(o.Size),
					ETag:     aws.ToString(o.ETag),
					Modified: aws.ToTime(o.LastModified),
				}
				if !yield(info, nil) {
					return
				}
			}
		}
	}
}

// Folders iterates over the folders directly below the prefix: the keys up to and
// including the next slash. It ends after the first error.
func (s *Store) Folders(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{
			Bucket: &s.bucket, Prefix: &prefix, Delimiter: aws.String("/"),
		})
		for pages.HasMorePages() {
			page, err := s.listPage(ctx, pages)
			if err != nil {
				yield("", wrap(err, "list the folders of", prefix))
				return
			}
			for _, folder := range page.CommonPrefixes {
				if !yield(aws.ToString(folder.Prefix), nil) {
					return
				}
			}
		}
	}
}

func (s *Store) listPage(ctx context.Context, pages *s3.ListObjectsV2Paginator) (*s3.ListObjectsV2Output, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return pages.NextPage(ctx)
}
