package operate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/infra/doctor"
	"netsim/internal/servicetest"
)

// TestDoctorExaminesTheArchive: with the role archiver, the doctor says whether the archive
// can be read and continued, and what to do if not. Without the role it does not ask.
func TestDoctorExaminesTheArchive(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	c.Roles, c.Archive = []string{settings.RoleArchiver}, filepath.Join(t.TempDir(), "archive")
	check := func(status doctor.Status, finding string) {
		t.Helper()
		if r := examined(t, c, time.Now)["archive, readable"]; r.Status != status || !strings.Contains(r.Finding, finding) {
			t.Errorf("the doctor says %+v, want %s and %q", r, status, finding)
		}
	}
	check(doctor.OK, "does not exist yet")
	if err := os.Mkdir(c.Archive, 0o700); err != nil {
		t.Fatal(err)
	}
	check(doctor.OK, "is empty")
	if err := os.WriteFile(filepath.Join(c.Archive, "000000000001.note"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(doctor.Fail, "000000000001.note")
	directory := c.Archive
	c.Archive = "s3://" + c.S3Bucket + "-of-nobody/log"
	check(doctor.Fail, "NoSuchBucket")
	c.Archive, c.Roles = directory, []string{settings.RoleProjector}
	if r, is := examined(t, c, time.Now)["archive, readable"]; is {
		t.Errorf("without the role the doctor says %+v", r)
	}
}
