// Package tables turns facts into rows of flat, typed tables: one table per family
// of events.
//
// A table begins with the columns of the frame and of the fact's position, and the
// event's data as JSON text. It then has one nullable column for each member of the
// data of the family's event types. Members of several types with the same name and
// type share a column. A column is null in the rows of types that lack the member,
// and where the member was left out of the data because it was empty.
//
// Names are the members' names in snake case. A name that is taken by a column of
// another type or of the frame, or is a reserved word of SQL, gets the event's name
// as prefix: the member type of netsim.configuration.reference_set.v1 is
// reference_set_type.
//
// The ids, names and types of all columns are sealed in testdata/columns.txt, which
// is part of the program and only grows. Files of different releases can therefore
// be read together by id or by name.
//
// # Values
//
//   - text: the string. Bytes that are not UTF-8 become U+FFFD, as in encoding/json.
//   - integer: 64 bits, signed.
//   - timestamp: UTC, microseconds; what is finer is cut off, and remains in data.
//   - date: a day of the proleptic Gregorian calendar.
//   - decimal: 38 digits, 18 of them after the point, exact. An amount that does not
//     fit is an error, and never rounded.
//   - json: the text of a nested object or list, as it is in the data.
//
// The data of a fact that this release cannot decode, such as one of an unknown type,
// is only in the column data.
package tables
