package objects

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// Protection says how a bucket's files are protected from being lost.
type Protection struct {
	Versioned bool
	Expiring  []string // names of lifecycle rules that delete files
}

// Protection reads the versioning and the lifecycle rules of the bucket. Some stores and
// some access keys do not allow it.
func (s *Store) Protection(ctx context.Context) (Protection, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var p Protection
	versioning, err := s.client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.bucket})
	if err != nil {
		return p, wrap(err, "read the versioning of bucket", s.bucket)
	}
	p.Versioned = versioning.Status == types.BucketVersioningStatusEnabled
	rules, err := s.client.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &s.bucket})
	if api, is := errors.AsType[smithy.APIError](err); is && api.ErrorCode() == "NoSuchLifecycleConfiguration" {
		return p, nil
	}
	if err != nil {
		return p, wrap(err, "read the lifecycle rules of bucket", s.bucket)
	}
	for _, rule := range rules.Rules {
		if rule.Status == types.ExpirationStatusEnabled && rule.Expiration != nil && (rule.Expiration.Days != nil || rule.Expiration.Date != nil) {
			name := "one without a name"
			if rule.ID != nil {
				name = *rule.ID
			}
			p.Expiring = append(p.Expiring, name)
		}
	}
	return p, nil
}
