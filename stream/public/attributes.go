package public

// Attribute is an attribute of a public fact.
type Attribute struct {
	Header   string // its header in binary mode
	JSON     string // its member in structured mode
	Number   bool   // whether the member is a JSON number; else it is a string
	Optional bool   // whether it is left out when it has no value
	Meaning  string
}

// The headers of the source position: where the fact is in the log.
const (
	SourceTopic     = "netsim-source-topic"
	SourcePartition = "netsim-source-partition"
	SourceOffset    = "netsim-source-offset"
)

// Attributes lists the attributes in the order in which Message and AppendJSON write
// them. Numbers that can exceed 2³¹ are strings in JSON, because an Integer of
// CloudEvents has 32 bits.
func Attributes() []Attribute {
	return []Attribute{
		{Header: "ce_specversion", JSON: "specversion", Meaning: "1.0, the version of CloudEvents"},
		{Header: "ce_id", JSON: "id", Meaning: "the event's id, a UUID"},
		{Header: "ce_source", JSON: "source", Meaning: "/netsim"},
		{Header: "ce_type", JSON: "type", Meaning: "the event's type"},
		{Header: "ce_subject", JSON: "subject", Meaning: "the stream; equal to the record's key"},
		{Header: "ce_time", JSON: "time", Meaning: "when it happened, UTC"},
		{Header: "content-type", JSON: "datacontenttype", Meaning: "application/json"},
		{Header: "ce_dataschema", JSON: "dataschema", Meaning: "path of the data's JSON Schema: /schemas/{type}/{version}"},
		{Header: "ce_sequence", JSON: "sequence", Meaning: "1, 2, 3 … within the stream"},
		{Header: "ce_partitionkey", JSON: "partitionkey", Meaning: "workspace id, or account id where there is none; events with the same key have the same partition"},
		{Header: "ce_commandid", JSON: "commandid", Optional: true, Meaning: "id of the command that made the event"},
		{Header: "ce_actor", JSON: "actor", Optional: true, Meaning: "a user's id, an operator's, or system"},
		{Header: "ce_correlationid", JSON: "correlationid", Optional: true, Meaning: "the request that led to the event"},
		{Header: "ce_causeid", JSON: "causeid", Optional: true, Meaning: "id of the event that this one reacts to"},
		{Header: "ce_dataversion", JSON: "dataversion", Number: true, Meaning: "version of the data's schema"},
		{Header: "ce_recordedtime", JSON: "recordedtime", Meaning: "when the log recorded it, UTC"},
		{Header: "ce_hash", JSON: "hash", Meaning: "the event's hash, SHA-256 in hex"},
		{Header: SourceTopic, JSON: "sourcetopic", Meaning: "topic of the log"},
		{Header: SourcePartition, JSON: "sourcepartition", Number: true, Meaning: "partition of that topic"},
		{Header: SourceOffset, JSON: "sourceoffset", Meaning: "offset in that partition"},
	}
}
