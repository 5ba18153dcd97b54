// Package objects stores files in one bucket of an S3 store: results of
// simulations, traces, mapping files. Objects are written once and streamed
// in parts, so memory does not grow with their size.
//
// A call that transfers no content has its own timeout; other calls end with their
// context. For a missing object the error is fault.NotFound.
package objects

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"netsim/fault"
)

const callTimeout = 30 * time.Second

// Config says where the bucket is.
type Config struct {
	Endpoint  string // base URL; buckets are addressed by path
	Region    string
	Bucket    string
	AccessKey string // with SecretKey; "" takes the role of the process
	SecretKey string
	Now       func() time.Time // times of presigned links; default time.Now
	// Observe, when set, is called after every call to the store, with the
	// operation's name in the S3 API. A call does not include reading the body.
	Observe func(operation string, took time.Duration, err error)
	Wrap    func(*http.Transport) http.RoundTripper // of the connections; nil changes nothing
}

// Store is one bucket. It is safe for concurrent use.
type Store struct {
	bucket      string
	client      *s3.Client
	direct      *direct
	presign     *s3.PresignClient
	credentials aws.CredentialsProvider
	now         func() time.Time
}

// New makes a store. It does not contact the server.
func New(c Config) *Store {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wrap == nil {
		c.Wrap = func(t *http.Transport) http.RoundTripper { return t }
	}
	keys, transport := provider(c), c.Wrap(newTransport())
	client := s3.New(s3.Options{
		BaseEndpoint: &c.Endpoint,
		Region:       c.Region,
		UsePathStyle: true,
		Credentials:  keys,
		HTTPClient:   &http.Client{Transport: transport},
		// By default the SDK adds checksums that some stores do not support.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		APIOptions:                 append(observe(c.Observe), signHash),
	})
	return &Store{
		bucket: c.Bucket, client: client, direct: newDirect(c, keys, transport), credentials: keys,
		presign: s3.NewPresignClient(client), now: c.Now,
	}
}

// EnsureBucket creates the bucket unless it exists.
func (s *Store) EnsureBucket(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket})
	if !missing(err) {
		return wrap(err, "check bucket", s.bucket)
	}
	_, err = s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &s.bucket})
	if _, ours := errors.AsType[*types.BucketAlreadyOwnedByYou](err); ours {
		return nil // another process created it
	}
	return wrap(err, "create bucket", s.bucket)
}

// ErrNoBucket is wrapped by the error of RequireBucket when the bucket does not exist.
var ErrNoBucket = errors.New("does not exist")

// RequireBucket returns an error unless the bucket exists. It creates nothing.
func (s *Store) RequireBucket(ctx context.Context) error {
	err := s.Ping(ctx)
	if missing(err) {
		return fmt.Errorf("the bucket %s %w", s.bucket, ErrNoBucket)
	}
	return err
}

// Ping returns an error if the bucket cannot be reached.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.bucket})
	return wrap(err, "check bucket", s.bucket)
}

// missing reports whether the error means that the object or bucket does not exist.
func missing(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode() {
	case "NotFound", "NoSuchKey", "NoSuchBucket":
		return true
	}
	return false
}

// wrap adds the operation to the error; nil stays nil.
func wrap(err error, operation, object string) error {
	switch {
	case err == nil:
		return nil
	case missing(err):
		return &fault.Fault{Code: fault.NotFound, Message: "file not found", Cause: fmt.Errorf("%s %s: %w", operation, object, err)}
	}
	return fmt.Errorf("%s %s: %w", operation, object, err)
}
