package service_test

import (
	"regexp"
	"testing"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// TestTheArchiversCallsAreMeasured: what a process with the role archiver asks of the
// object store is in its metrics. It writes no other objects.
func TestTheArchiversCallsAreMeasured(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) {
		c.Roles = []string{settings.RoleProjector, settings.RoleArchiver}
		c.Archive = "s3://" + c.S3Bucket + "/" + c.TopicPrefix + "archive"
	})
	written := regexp.MustCompile(`(?m)^netsim_object_store_operation_duration_seconds_count\{error_type="",operation="PutObject"\} [1-9]`)
	testworld.Await(t, func() bool { return written.MatchString(servicetest.Scrape(t, p.Ops)) })
}
