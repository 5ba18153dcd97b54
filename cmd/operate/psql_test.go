package operate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/operate"
)

// TestPsqlEnvironment: whatever form the setting has, psql gets all of it by variables.
func TestPsqlEnvironment(t *testing.T) {
	t.Parallel()
	for postgres, want := range map[string]string{
		"postgres://u:p%40%2F:s@db.example:6432/netsim":                                             "PGHOST=db.example PGPORT=6432 PGDATABASE=netsim PGUSER=u PGPASSWORD=p@/:s",
		"postgres://u:p@one,two:6433/n?sslmode=disable&target_session_attrs=read-write":             "PGHOST=one,two PGPORT=5432,6433 PGDATABASE=n PGUSER=u PGPASSWORD=p PGSSLMODE=disable PGTARGETSESSIONATTRS=read-write",
		"postgresql:///n?host=/run/postgresql&user=u&application_name=me":                           "PGHOST=/run/postgresql PGPORT=5432 PGDATABASE=n PGUSER=u PGPASSWORD= PGAPPNAME=me",
		`host=db port=6432 dbname='the base' user = u password='it\'s \\ a = secret' sslmode=allow`: `PGHOST=db PGPORT=6432 PGDATABASE=the base PGUSER=u PGPASSWORD=it's \ a = secret PGSSLMODE=allow`,
		`user=u host=db dbname=n password=plain connect_timeout=7 options='-c statement_timeout=1'`: "PGHOST=db PGPORT=5432 PGDATABASE=n PGUSER=u PGPASSWORD=plain PGCONNECT_TIMEOUT=7 PGOPTIONS=-c statement_timeout=1",
	} {
		got, err := operate.PsqlEnvironment(postgres)
		if err != nil {
			t.Errorf("%s: %v", postgres, err)
			continue
		}
		slices.Sort(got[5:])
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", postgres, diff)
		}
	}
	if _, err := operate.PsqlEnvironment("postgres://u:hidden@db/n?statement_timeout=5"); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("a parameter that psql does not have: %v", err)
	}
}
