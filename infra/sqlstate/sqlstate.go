// Package sqlstate recognizes errors of PostgreSQL by their SQLSTATE.
package sqlstate

import (
	"errors"
	"slices"

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

// IsUnavailable reports whether the error says that the server starts or ends, has lost the
// connection, or lacks resources: another try may succeed.
func IsUnavailable(err error) bool {
	const connection, resources, intervention = "08", "53", "57"
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{connection, resources, intervention}, refused.Code[:2])
}
