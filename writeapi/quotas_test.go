package writeapi_test

import (
	"strings"
	"testing"
	"time"

	"netsim/commands"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// refusedByQuota fails the test unless the request was refused because of the
// quota policy.
func refusedByQuota(t *testing.T, policy string, r servicetest.Reply) {
	t.Helper()
	r.Refused(429, "RATE_LIMITED")
	if got := r.Header.Get("RateLimit-Policy"); got != policy || r.Header.Get("Retry-After") == "" {
		t.Errorf("refused by %s, want %s; Retry-After %s", got, policy, r.Header.Get("Retry-After"))
	}
}

// repeatUntil repeats a request until the response has the status.
func repeatUntil(t *testing.T, request func() servicetest.Reply, status int) servicetest.Reply {
	t.Helper()
	deadline := time.NewTimer(testwait.Limit(t))
	defer deadline.Stop()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for {
		r := request()
		if r.Status == status {
			return r
		}
		select {
		case <-every.C:
		case <-deadline.C:
			t.Fatalf("the status is still %d, want %d: %s", r.Status, status, r.Body)
		}
	}
}

// TestTheQuotaOfUploads: every way to upload counts towards the quota.
func TestTheQuotaOfUploads(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	openFiles(t, user, workspace, [2]string{"a.0.et", "x"})
	openMapping(t, user, workspace, "m", 10)
	uploadDirectly(t, user, workspace, nil, field{"file", "ring.0.et", "first"}).Want(201)
	p.SetQuota(t, account, commands.QuotaUploads, 4)
	openMapping(t, user, workspace, "m", 10)
	const policy = `"uploads.day";q=4;w=86400`
	refusedByQuota(t, policy, user.Post(openMappingFile, object{"workspaceId": workspace, "sizeBytes": 10}))
	refusedByQuota(t, policy, user.Post(openTraceset, object{"name": "set", "workspaceId": workspace, "files": []object{{"name": "a.0.et", "size": 1}}}))
	refusedByQuota(t, policy, uploadDirectly(t, user, workspace, nil, field{"file", "ring.0.et", "second"}))
	p.SetQuota(t, account, commands.QuotaUploads, 5)
	uploadDirectly(t, user, workspace, nil, field{"file", "ring.0.et", "second"}).Want(201)
}

// TestTheQuotaOfStorage: stored bytes and the announced bytes of open uploads
// count, and deleted ones do not. Beyond the quota, uploads and runs are refused.
func TestTheQuotaOfStorage(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	p.SetQuota(t, account, commands.QuotaStorage, 100)
	const policy = `"storage.bytes";q=100;qu="content-bytes"`
	open := func(size int) servicetest.Reply {
		return user.Post(openTraceset, object{"name": "set", "workspaceId": workspace, "files": []object{{"name": "a.0.et", "size": size}}})
	}
	refusedByQuota(t, policy, open(101))
	made := uploadDirectly(t, user, workspace, nil, field{"file", "ring.0.et", strings.Repeat("x", 60)}).Want(201).Object()
	p.Service(t, account).Eventually("/api/v1/billing/items", func(r servicetest.Reply) bool {
		return strings.Contains(string(r.Body), made["id"].(string))
	})
	refusedByQuota(t, policy, uploadDirectly(t, user, workspace, nil, field{"file", "ring.0.et", strings.Repeat("y", 41)}))
	open(30).Want(200)
	refusedByQuota(t, policy, open(11))
	user.Delete(tracesets + "/" + made["id"].(string)).Want(204)
	repeatUntil(t, func() servicetest.Reply { return open(70) }, 200) // once billing has metered the deletion
	refusedByQuota(t, policy, open(1))
	p.SetQuota(t, account, commands.QuotaStorage, 0)
	p.Grant(t, account, "100")
	refusedByQuota(t, `"storage.bytes";q=0;qu="content-bytes"`, user.Post(simple, object{
		"workload": object{"ranks": 8, "phases": []object{{"operationType": "allReduce", "dataSize": 1}}},
	}))
}
