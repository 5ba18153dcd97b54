// Package contracts registers the schemas of the event types in a schema registry
// with Confluent's API, so that stream processors find them by the ids in messages.
//
// A type's subject is the type itself (RecordNameStrategy): a type has one schema in
// whatever topic it is written. A subject gets the compatibility FORWARD_TRANSITIVE
// unless it has one already. Schemas only grow by optional members and allow members
// that they do not name, so a reader with any older schema accepts newer data. A
// registry cannot prove the opposite direction for such schemas, because older data
// might have a member of the new name; tests of package events prove it from what
// was written.
//
// Nothing waits for the registry. While it does not answer, messages are published
// without the id of their schema.
package contracts

//go:generate go run ./internal/catalogue
