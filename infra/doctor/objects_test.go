package doctor

import (
	"strings"
	"testing"
	"time"

	"netsim/infra/objects"
	"netsim/internal/teststack"
)

// TestObjects: a healthy bucket has only good results and is empty afterwards. A missing
// bucket, a wrong key, a store that is down and a clock that is wrong are named.
func TestObjects(t *testing.T) {
	t.Parallel()
	at := teststack.Objects(t)
	with := func(change func(c *objects.Config)) Objects {
		c := objects.Config{Endpoint: at.Endpoint, Region: at.Region, Bucket: at.Bucket, AccessKey: at.AccessKey, SecretKey: at.SecretKey}
		change(&c)
		return Objects{Endpoint{Component: "object store", URL: c.Endpoint, Now: time.Now}, objects.New(c), c.Bucket}
	}
	healthy := with(func(*objects.Config) {})
	for _, c := range healthy.Checks() {
		want(t, c.Run(t.Context()), OK)
	}
	for info, err := range healthy.Store.List(t.Context(), "") {
		t.Errorf("%s was left behind: %v", info.Key, err)
	}
	for begun, err := range healthy.Store.ListBegun(t.Context(), "") {
		t.Errorf("the upload %+v was left behind: %v", begun, err)
	}
	down := "http://" + teststack.FreeAddress(t)
	for words, broken := range map[string]Objects{
		"there is no bucket":     with(func(c *objects.Config) { c.Bucket = "nowhere" }),
		"refuses the access key": with(func(c *objects.Config) { c.SecretKey = "wrong" }),
		"no answer from " + down: with(func(c *objects.Config) { c.Endpoint = down }),
	} {
		want(t, run(t, broken.Checks(), "reachable"), Fail, words)
		want(t, run(t, broken.Checks(), "read and write"), Fail)
	}
	behind := healthy
	behind.Now = func() time.Time { return time.Now().Add(time.Hour) }
	want(t, run(t, behind.Checks(), "clock"), Fail, "behind")
	if got := run(t, with(func(c *objects.Config) { c.SecretKey = "wrong" }).Checks(), "signed link"); strings.Contains(got.Finding, "Signature=") {
		t.Errorf("the finding %q shows a link", got.Finding)
	}
}
