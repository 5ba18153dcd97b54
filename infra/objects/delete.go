package objects

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const deleteBatch = 1000 // the maximum of one S3 request

// DeletePrefix deletes every object under the prefix. The prefix must end with a
// slash, such as results/sim_x/; otherwise it would match results/sim_xy/ too.
// It can be interrupted and repeated.
func (s *Store) DeletePrefix(ctx context.Context, prefix string) error {
	if len(prefix) < 2 || prefix[0] == '/' || !strings.HasSuffix(prefix, "/") {
		return fmt.Errorf("delete prefix %q: it must be a folder's name that ends with a slash", prefix)
	}
	var batch []types.ObjectIdentifier
	for info, err := range s.List(ctx, prefix) {
		if err != nil {
			return fmt.Errorf("delete prefix %s: %w", prefix, err)
		}
		batch = append(batch, types.ObjectIdentifier{Key: aws.String(info.Key)})
		if len(batch) == deleteBatch {
			if err := s.deleteAll(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return s.deleteAll(ctx, batch)
}

func (s *Store) deleteAll(ctx context.Context, batch []types.ObjectIdentifier) error {
	if len(batch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := s.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &s.bucket,
		Delete: &types.Delete{Objects: batch, Quiet: aws.Bool(true)},
	})
	if err != nil {
		return fmt.Errorf("delete %d objects: %w", len(batch), err)
	}
	if len(out.Errors) > 0 {
		first := out.Errors[0]
		return fmt.Errorf("delete %d objects: %d not deleted, the first is %s: %s %s",
			len(batch), len(out.Errors), aws.ToString(first.Key), aws.ToString(first.Code), aws.ToString(first.Message))
	}
	return nil
}

// Delete deletes one object. Deleting a missing object succeeds.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.deleteAll(ctx, []types.ObjectIdentifier{{Key: &key}})
}
