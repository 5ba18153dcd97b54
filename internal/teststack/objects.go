package teststack

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// ObjectStore is the address and the keys of an S3 store with path-style addressing.
type ObjectStore struct {
	Endpoint  string // base URL
	Region    string
	Bucket    string // new and empty
	AccessKey string
	SecretKey string
}

// Objects returns a new bucket in the S3 store that tests share.
func Objects(t testing.TB) ObjectStore {
	t.Helper()
	e := sharedObjects.get(t, "objects")
	store := ObjectStore{
		Endpoint: e.URL, Region: e.Region, AccessKey: e.AccessKey, SecretKey: e.SecretKey,
		Bucket: "test-" + strings.ToLower(rand.Text()),
	}
	client := s3.New(s3.Options{
		BaseEndpoint: &store.Endpoint,
		Region:       store.Region,
		UsePathStyle: true,
		Credentials:  credentials.NewStaticCredentialsProvider(store.AccessKey, store.SecretKey, ""),
	})
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(store.Bucket)}); err != nil {
		t.Fatalf("teststack: create bucket: %v", err)
	}
	return store
}
