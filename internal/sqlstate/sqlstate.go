// Package sqlstate recognizes errors of PostgreSQL by their SQLSTATE.
package sqlstate

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// IsMissing reports whether the error says that a table or its schema does not exist.
func IsMissing(err error) bool {
	const undefinedTable, invalidSchema = "42P01", "3F000"
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (refused.Code == undefinedTable || refused.Code == invalidSchema)
}

// IsForbidden reports whether the error says that the user lacks a right.
func IsForbidden(err error) bool {
	const insufficientPrivilege = "42501"
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == insufficientPrivilege
}
