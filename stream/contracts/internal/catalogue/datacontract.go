package main

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The parts of an Open Data Contract (ODCS 3.1) that describe the public topics.
type (
	dataContract struct {
		APIVersion  string           `yaml:"apiVersion"`
		Kind        string           `yaml:"kind"`
		ID          string           `yaml:"id"`
		Name        string           `yaml:"name"`
		Version     string           `yaml:"version"`
		Status      string           `yaml:"status"`
		Domain      string           `yaml:"domain"`
		DataProduct string           `yaml:"dataProduct"`
		Description dataDescription  `yaml:"description"`
		Servers     []dataServer     `yaml:"servers"`
		Schema      []dataElement    `yaml:"schema"`
		Roles       []dataRole       `yaml:"roles"`
		SLA         []dataAgreement  `yaml:"slaProperties"`
		Definitions []dataDefinition `yaml:"authoritativeDefinitions"`
	}
	dataDescription struct {
		Purpose     string `yaml:"purpose"`
		Usage       string `yaml:"usage"`
		Limitations string `yaml:"limitations"`
	}
	dataServer struct {
		Server      string `yaml:"server"`
		Type        string `yaml:"type"`
		Description string `yaml:"description"`
		Environment string `yaml:"environment"`
		Host        string `yaml:"host,omitempty"`
		Format      string `yaml:"format,omitempty"`
		Database    string `yaml:"database,omitempty"`
		Schema      string `yaml:"schema,omitempty"`
	}
	// dataElement is an object of the schema, a property, or the items of a list.
	dataElement struct {
		Name         string           `yaml:"name,omitempty"`
		PhysicalName string           `yaml:"physicalName,omitempty"`
		LogicalType  string           `yaml:"logicalType"`
		PhysicalType string           `yaml:"physicalType"`
		Description  string           `yaml:"description,omitempty"`
		Granularity  string           `yaml:"dataGranularityDescription,omitempty"`
		Required     bool             `yaml:"required,omitempty"`
		Unique       bool             `yaml:"unique,omitempty"`
		Tags         []string         `yaml:"tags,omitempty"`
		Options      map[string]any   `yaml:"logicalTypeOptions,omitempty"`
		Properties   []dataElement    `yaml:"properties,omitempty"`
		Items        *dataElement     `yaml:"items,omitempty"`
		Quality      []dataQuality    `yaml:"quality,omitempty"`
		Definitions  []dataDefinition `yaml:"authoritativeDefinitions,omitempty"`
	}
	dataQuality struct {
		Name        string `yaml:"name"`
		Type        string `yaml:"type"`
		Dimension   string `yaml:"dimension"`
		Description string `yaml:"description"`
	}
	dataRole struct {
		Role        string `yaml:"role"`
		Access      string `yaml:"access"`
		Description string `yaml:"description"`
	}
	dataAgreement struct {
		Property    string `yaml:"property"`
		Value       any    `yaml:"value"`
		Unit        string `yaml:"unit,omitempty"`
		Element     string `yaml:"element,omitempty"`
		Description string `yaml:"description"`
	}
	dataDefinition struct {
		Type string `yaml:"type"`
		URL  string `yaml:"url"`
	}
)

// headersElement is the schema object of the headers, which all messages have.
const headersElement = "headers"

// openDataContract describes the public topics for consumers of data: an object for
// each event type, whose physical name is its topic.
func openDataContract(types []eventType) ([]byte, error) {
	doc := dataContract{
		APIVersion: "v3.1.0", Kind: "DataContract", ID: "urn:netsim:datacontract:public",
		Name: "netsim's facts", Version: "1.0.0", Status: "active", Domain: "network simulation", DataProduct: "netsim events",
		Description: dataDescription{
			Purpose: "Every change in netsim since its first event: workspaces, configurations, simulations, tracesets, mapping files, usage and costs.",
			Usage: "Read the topics netsim.public.<family> with isolation.level=read_committed, or the lake. " +
				"Ignore types, headers and members that you do not know.",
			Limitations: "There is no order between topics. Events have ids of persons, never names or mail addresses. " +
				"Amounts of money are decimal strings and must not be read as floats. Integers are exact up to 2^53.",
		},
		Servers: []dataServer{
			{Server: "kafka", Type: "kafka", Environment: "dev", Host: "127.0.0.1:9092", Format: "json",
				Description: "The brokers of the deployment (NETSIM_KAFKA); here the one of netsim-dev. A message is an event in CloudEvents' binary mode."},
			{Server: "lake", Type: "duckdb", Environment: "dev", Database: "ducklake:postgres:", Schema: "main",
				Description: "The lake: a DuckLake whose catalogue is in PostgreSQL, with a table for each family. A snapshot is a prefix of the facts of each partition."},
		},
		Schema: []dataElement{headersObject()},
		Roles:  []dataRole{{"consumer", "read", "A principal with READ on the topics netsim.public. (prefixed) and on its consumer group."}},
		SLA: []dataAgreement{
			{"frequency", "continuous", "", "", "Each fact is published when it has been judged."},
			{"latency", 1, "s", headersElement + ".ce_recordedtime", "Target for the public topics while the publisher keeps up; netsim_publisher_lag_seconds shows it."},
			{"latency", 15, "s", "", "Target for the lake at 2,000 commands a second."},
			{"retention", "unlimited", "", "", "Unless the deployment sets NETSIM_PUBLIC_RETENTION. A topic can be published again from the first fact."},
			{"order", "stream", "", headersElement + ".ce_sequence", "The facts of a stream, and of a workspace within a topic, are in one partition in their order."},
			{"delivery", "once", "", headersElement + ".ce_id", "For readers of committed records; a repetition has a ce_sequence that is not greater than the last one of its stream."},
			{"evolution", compatibility, "", "", "Types only gain optional members; anything else is a new type."},
		},
		Definitions: []dataDefinition{{"asyncapi", "/asyncapi.yaml"}, {"documentation", "docs/events.md"}},
	}
	topics := map[string]string{}
	for _, f := range families() {
		topics[string(f.Family)] = f.Topic()
	}
	for _, t := range types {
		doc.Schema = append(doc.Schema, dataElement{
			Name: t.Name, PhysicalName: topics[string(t.Family)], LogicalType: "object", PhysicalType: "topic", Description: t.When,
			Granularity: "one event", Tags: []string{string(t.Family)},
			Properties:  elements(t.Fields),
			Definitions: []dataDefinition{{"jsonschema", t.schemaPath()}},
		})
	}
	var out bytes.Buffer
	out.WriteString("# Generated by go generate ./stream/contracts.\n")
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

// headersObject describes the headers of a message.
func headersObject() dataElement {
	all := dataElement{
		Name: headersElement, PhysicalName: "netsim.public.*", LogicalType: "object", PhysicalType: "topic",
		Description: "The headers that the messages of all topics have.", Granularity: "one event",
		Quality: []dataQuality{
			{"gapless", "text", "completeness", "The values of ce_sequence of a ce_subject are 1, 2, 3 and so on, without a gap."},
			{"once", "text", "uniqueness", "No two committed messages have the same ce_id, or the same ce_subject and ce_sequence."},
			{"verifiable", "text", "accuracy", "ce_hash is the hash of the record at the source position, which the signed log checkpoints cover (docs/audit.md)."},
		},
	}
	for _, a := range attributes() {
		all.Properties = append(all.Properties, dataElement{
			Name: a.Name, LogicalType: logicalHeader(a), PhysicalType: "header", Description: a.Meaning,
			Required: a.Required, Unique: a.Name == "ce_id",
		})
	}
	return all
}

// logicalHeader returns the logical type of a header's text.
func logicalHeader(a attribute) string {
	switch a.Name {
	case "ce_time", "ce_recordedtime":
		return "timestamp"
	case "ce_sequence", "ce_dataversion", "netsim-source-partition", "netsim-source-offset", schemaIDHeader:
		return "integer"
	}
	return "string"
}

func elements(fields []field) (all []dataElement) {
	for _, f := range fields {
		e := element(f)
		e.Name, e.Description, e.Required = f.Name, f.Comment, !f.Optional
		all = append(all, e)
	}
	return all
}

// element returns the types of a field.
func element(f field) dataElement {
	if f.List {
		f.List = false
		items := element(f)
		return dataElement{LogicalType: "array", PhysicalType: "array", Items: &items}
	}
	switch f.Kind {
	case object:
		return dataElement{LogicalType: "object", PhysicalType: "object", Properties: elements(f.Fields)}
	case instant:
		return dataElement{LogicalType: "timestamp", PhysicalType: "string"}
	case integer:
		return dataElement{LogicalType: "integer", PhysicalType: "integer", Options: map[string]any{"format": "i64"}}
	case boolean:
		return dataElement{LogicalType: "boolean", PhysicalType: "boolean"}
	}
	switch { // what the comment says about the text
	case strings.HasPrefix(f.Comment, "decimal"):
		return dataElement{LogicalType: "number", PhysicalType: "string"}
	case strings.HasPrefix(f.Comment, "YYYY-MM-DD"):
		return dataElement{LogicalType: "date", PhysicalType: "string"}
	}
	return dataElement{LogicalType: "string", PhysicalType: "string"}
}
