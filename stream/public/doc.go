// Package public defines the public form of a fact: what consumers outside the
// service read from the public topics, the feed and NDJSON files.
//
// A fact is a CloudEvents 1.0 event. Message gives the binary mode of CloudEvents'
// Kafka binding: attributes are headers, the value is the event's data as it is
// stored. AppendJSON gives the structured mode: one line of JSON that contains the
// attributes and the data. Both have the attributes that Attributes lists, and no
// others, so nothing else that a record of the log carries becomes public.
//
// A fact that this release cannot decode has a sound frame, or it would not be a
// fact. It has the same form, and its data is as it is stored.
package public
