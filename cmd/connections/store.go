package connections

import (
	"net/http"
	"strings"
	"time"

	"netsim/cmd/settings"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/stream/archive"
	"netsim/stream/export"
)

// Observer sees what is done at the object store. Its zero value sees nothing.
type Observer struct {
	Called func(operation string, took time.Duration, err error) // called after each call
	Wrap   func(*http.Transport) http.RoundTripper               // given the connections
}

// Objects returns the object store of the settings.
func Objects(c *settings.Config, see Observer) *objects.Store {
	return objects.New(objects.Config{
		Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket,
		AccessKey: c.S3AccessKey, SecretKey: c.S3SecretKey, Observe: see.Called, Wrap: see.Wrap,
	})
}

// ExportTarget returns the target of an export: a directory, or for s3://bucket/prefix
// the object store of the settings.
func ExportTarget(c *settings.Config, to string, see Observer) (export.Target, error) {
	at, remote := strings.CutPrefix(to, "s3://")
	if !remote {
		return &export.Directory{Path: to}, nil
	}
	bucket, prefix, _ := strings.Cut(at, "/")
	if bucket == "" {
		return nil, fault.New(fault.Validation, "%q names no bucket: s3://bucket/prefix is right", to)
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	other := *c
	other.S3Bucket = bucket
	return &export.Bucket{Prefix: prefix, Store: Objects(&other, see)}, nil
}

// ArchiveTarget returns the target of an archive, as ExportTarget does.
func ArchiveTarget(c *settings.Config, to string, see Observer) (archive.Target, error) {
	target, err := ExportTarget(c, to, see)
	if err != nil {
		return nil, err
	}
	return target.(archive.Target), nil
}
