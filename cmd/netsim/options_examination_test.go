package main

// examinationOptionRows returns the rows of optionRows for the commands that examine an
// installation, keep its tables, and print what it needs.
func examinationOptionRows() map[string]option {
	const (
		examined = "cmd/netsim/doctor_test.go TestDoctorByCommand"
		rights   = "cmd/netsim/acls_test.go TestRightsByCommand"
	)
	return map[string]option{
		"operations list --limit": {"operations list --limit 2", "cmd/netsim/killed_test.go TestOperationsByCommand", map[string]string{"operations list --limit 0": "--limit must be at least 1"}},
		"operations list --json":  {"operations list --json", "cmd/netsim/killed_test.go TestOperationsByCommand", nil},

		"doctor --json":    {"doctor --json", examined, nil},
		"doctor --timeout": {"doctor --timeout 1m", examined, map[string]string{"doctor --timeout 0s": "longer than 0s"}},

		"psql <arguments>":      {"psql -c x --help", "cmd/netsim/database_test.go TestPsqlByCommand", nil},
		"tables dump <file>":    {"tables dump x", "cmd/operate/tables_test.go TestTablesAreDumpedAndRestored", map[string]string{"tables dump": "expected \"<file>\""}},
		"tables restore <file>": {"tables restore options_test.go", "cmd/operate/tables_test.go TestTablesAreDumpedAndRestored", map[string]string{"tables restore none": "no such file"}},

		"acls --principal-prefix": {"acls --principal-prefix User:x-", rights, nil},
		"acls --topic-prefix":     {"acls --topic-prefix x.", rights, nil},
		"acls --json":             {"acls --json", rights, nil},
	}
}
