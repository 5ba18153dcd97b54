package service_test

import (
	"strings"
	"testing"
	"time"

	"netsim/infra/doctor"
	"netsim/internal/service"
	"netsim/internal/service/servicetest"
)

// rowsOf examines the components of the settings and returns the rows by component and
// check, such as "kafka, clock".
func rowsOf(t *testing.T, c service.Config, now func() time.Time) map[string]doctor.Row {
	t.Helper()
	rows, err := service.Examine(t.Context(), c, now)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]doctor.Row{}
	for _, r := range rows {
		name := r.Component + ", " + r.Check
		if _, twice := all[name]; twice {
			t.Errorf("%s was checked twice", name)
		}
		if (r.Advice == "") != (r.Status == doctor.OK || r.Status == doctor.Skipped) || r.Finding == "" {
			t.Errorf("%+v: want a finding, and advice exactly if something is wrong", r)
		}
		for _, secret := range []string{c.S3SecretKey, c.WriterKeys} {
			if strings.Contains(r.Finding+r.Advice, secret) {
				t.Errorf("%+v shows a secret", r)
			}
		}
		all[name] = r
	}
	return all
}

// TestDoctorOfAHealthyService: nothing fails, and only what a stack for tests lacks is
// warned of.
func TestDoctorOfAHealthyService(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	for name, r := range rowsOf(t, p.Config, time.Now) {
		t.Logf("%-30s %-8s %s", name, r.Status, r.Finding)
	}
}
