package main

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// The parts of an AsyncAPI 3.0 document that describe the public topics.
type (
	asyncDocument struct {
		AsyncAPI           string                    `yaml:"asyncapi"`
		ID                 string                    `yaml:"id"`
		Info               asyncInfo                 `yaml:"info"`
		DefaultContentType string                    `yaml:"defaultContentType"`
		Servers            map[string]asyncServer    `yaml:"servers"`
		Channels           map[string]asyncChannel   `yaml:"channels"`
		Operations         map[string]asyncOperation `yaml:"operations"`
		Components         asyncComponents           `yaml:"components"`
	}
	asyncInfo struct {
		Title       string       `yaml:"title"`
		Version     string       `yaml:"version"`
		Description string       `yaml:"description"`
		License     asyncLicense `yaml:"license"`
		Tags        []asyncTag   `yaml:"tags"`
	}
	asyncLicense struct {
		Name string `yaml:"name"`
	}
	asyncTag struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description,omitempty"`
	}
	asyncServer struct {
		Host        string                   `yaml:"host"`
		Protocol    string                   `yaml:"protocol"`
		Title       string                   `yaml:"title"`
		Description string                   `yaml:"description"`
		Variables   map[string]asyncVariable `yaml:"variables"`
		Security    []ref                    `yaml:"security,omitempty"`
		Bindings    map[string]any           `yaml:"bindings"`
	}
	asyncVariable struct {
		Default     string `yaml:"default"`
		Description string `yaml:"description"`
	}
	asyncChannel struct {
		Address     string         `yaml:"address"`
		Title       string         `yaml:"title"`
		Description string         `yaml:"description"`
		Messages    map[string]ref `yaml:"messages"`
		Bindings    map[string]any `yaml:"bindings"`
	}
	asyncOperation struct {
		Action      string         `yaml:"action"`
		Channel     ref            `yaml:"channel"`
		Title       string         `yaml:"title"`
		Description string         `yaml:"description"`
		Bindings    map[string]any `yaml:"bindings"`
	}
	asyncComponents struct {
		SecuritySchemes map[string]asyncScheme  `yaml:"securitySchemes"`
		Messages        map[string]asyncMessage `yaml:"messages"`
		Schemas         map[string]any          `yaml:"schemas"`
	}
	asyncScheme struct {
		Type        string `yaml:"type"`
		Description string `yaml:"description"`
	}
	asyncMessage struct {
		Name        string         `yaml:"name"`
		Title       string         `yaml:"title"`
		Summary     string         `yaml:"summary"`
		ContentType string         `yaml:"contentType"`
		Tags        []asyncTag     `yaml:"tags"`
		Headers     asyncHeaders   `yaml:"headers"`
		Payload     ref            `yaml:"payload"`
		Bindings    map[string]any `yaml:"bindings"`
		Examples    []asyncExample `yaml:"examples"`
	}
	asyncHeaders struct {
		Type       string         `yaml:"type"`
		AllOf      []ref          `yaml:"allOf"`
		Properties map[string]any `yaml:"properties"`
	}
	asyncExample struct {
		Name    string     `yaml:"name"`
		Payload *yaml.Node `yaml:"payload"`
	}
	ref struct {
		Ref string `yaml:"$ref"`
	}
)

const (
	kafkaBinding = "0.5.0"

	about = `The facts of netsim as CloudEvents 1.0 in Kafka's binary mode: attributes are
headers, the value is the event's data as JSON.

**Order.** The key is the stream. The facts of a stream are in one partition, in
the order of ` + "`ce_sequence`" + `, which has no gaps. So are all facts of a workspace in
a topic. There is no order between topics.

**Once.** Facts are written in Kafka transactions. A consumer with
` + "`isolation.level=read_committed`" + ` gets each fact once. ` + "`ce_id`" + ` is unique, and a
message whose ` + "`ce_sequence`" + ` is not greater than the last one of its ` + "`ce_subject`" + ` is a
repetition.

**Changes.** Later releases add event types, headers and optional members of the
data. They never remove one, make one required or change its meaning; that takes
a new type, such as ` + "`….v2`" + `. Ignore what you do not know.

**History.** The topics begin with the first fact of the log and keep all, unless the
deployment sets NETSIM_PUBLIC_RETENTION. A topic has as many partitions as the log,
or a multiple (NETSIM_PUBLIC_PARTITIONS). The timestamp of a message is
` + "`ce_recordedtime`" + `. A topic can be deleted and published again from the log.
` + "`netsim-source-topic`, `netsim-source-partition` and `netsim-source-offset`" + ` say where
the fact is in the log.
`
)

// asyncAPI describes the service as the sender: a channel for each public topic, a
// message for each type. The document has no references to other files.
func asyncAPI(types []eventType) ([]byte, error) {
	doc := asyncDocument{
		AsyncAPI: "3.0.0",
		ID:       "urn:netsim:public",
		Info: asyncInfo{
			Title: "netsim's public topics", Version: "1.0.0", Description: about,
			License: asyncLicense{"Proprietary"},
		},
		DefaultContentType: "application/json",
		Servers:            servers(),
		Channels:           map[string]asyncChannel{},
		Operations:         map[string]asyncOperation{},
		Components: asyncComponents{
			SecuritySchemes: map[string]asyncScheme{"scram": {
				"scramSha512", "A principal of the deployment's brokers with READ on the topics `netsim.public.` (prefixed) and on its consumer group.",
			}},
			Messages: map[string]asyncMessage{},
			Schemas:  map[string]any{"Headers": headersSchema()},
		},
	}
	for _, f := range families() {
		name := string(f.Family)
		doc.Info.Tags = append(doc.Info.Tags, asyncTag{name, "Streams: " + f.Streams + "."})
		doc.Channels[name] = asyncChannel{
			Address: f.Topic(), Title: "The facts of " + name,
			Description: "Streams: " + f.Streams + ".",
			Messages:    map[string]ref{sealed: {"#/components/messages/" + sealed}},
			Bindings: kafka("topic", f.Topic(),
				"topicConfiguration", map[string]any{"cleanup.policy": []string{"delete"}}),
		}
		doc.Operations["publish."+name] = asyncOperation{
			Action: "send", Channel: ref{"#/channels/" + name},
			Title: "Publish the facts of " + name, Description: "The service publishes each fact of the family to " + f.Topic() + ".",
			Bindings: kafka(),
		}
	}
	for _, t := range types {
		doc.Channels[string(t.Family)].Messages[t.Name] = ref{"#/components/messages/" + t.Name}
		m, err := message(t)
		if err != nil {
			return nil, err
		}
		doc.Components.Messages[t.Name] = m
		if doc.Components.Schemas[t.Name], err = schemaNode(t); err != nil {
			return nil, err
		}
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

func servers() map[string]asyncServer {
	brokers := map[string]asyncVariable{"brokers": {"127.0.0.1:9092", "host:port of a broker of the deployment (NETSIM_KAFKA)"}}
	return map[string]asyncServer{
		"development": {
			Host: "{brokers}", Protocol: "kafka", Title: "A broker without authentication",
			Description: "The broker of netsim-dev.", Variables: brokers, Bindings: kafka(),
		},
		"production": {
			Host: "{brokers}", Protocol: "kafka-secure", Title: "Brokers that authenticate their clients",
			Description: "The deployment's brokers decide how their clients authenticate; SASL/SCRAM over TLS is an example. " +
				"Consumers need no right to write.",
			Variables: brokers, Security: []ref{{"#/components/securitySchemes/scram"}}, Bindings: kafka(),
		},
	}
}

// kafka returns a Kafka binding with the given names and values.
func kafka(pairs ...any) map[string]any {
	binding := map[string]any{"bindingVersion": kafkaBinding}
	for i := 0; i < len(pairs); i += 2 {
		binding[pairs[i].(string)] = pairs[i+1]
	}
	return map[string]any{"kafka": binding}
}

func message(t eventType) (asyncMessage, error) {
	payload, err := yamlOf(t.Example)
	if err != nil {
		return asyncMessage{}, err
	}
	return asyncMessage{
		Name: t.Name, Title: t.Name, Summary: t.When, ContentType: "application/json",
		Tags: []asyncTag{{Name: string(t.Family)}},
		Headers: asyncHeaders{
			Type: "object", AllOf: []ref{{"#/components/schemas/Headers"}},
			Properties: map[string]any{
				"ce_type":       map[string]any{"const": t.Name},
				"ce_dataschema": map[string]any{"const": t.schemaPath()},
			},
		},
		Payload: ref{"#/components/schemas/" + t.Name},
		Bindings: kafka("key", map[string]any{
			"type": "string", "description": "The stream, as in ce_subject.", "examples": []string{t.stream()},
		}),
		Examples: []asyncExample{{"full", payload}},
	}, nil
}

func headersSchema() map[string]any {
	properties, example := map[string]any{}, map[string]string{}
	var required []string
	for _, a := range attributes() {
		example[a.Name] = a.Example
		properties[a.Name] = map[string]any{"type": "string", "pattern": a.Pattern, "description": a.Meaning}
		if a.Required {
			required = append(required, a.Name)
		}
	}
	return map[string]any{
		"type": "object", "description": "The headers of a message.", "properties": properties, "required": required,
		"examples": []any{example},
	}
}

// schemaNode returns the schema of a type's data without what names it as a
// document of its own.
func schemaNode(t eventType) (*yaml.Node, error) {
	s := objectSchema(t.Fields)
	s.Title, s.Description = t.Name, t.When
	text, err := marshal(s)
	if err != nil {
		return nil, err
	}
	return yamlOf(text)
}

// yamlOf returns JSON as YAML in block style, with the members in their order.
func yamlOf(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	block(doc.Content[0])
	return doc.Content[0], nil
}

func block(n *yaml.Node) {
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode { // an empty mapping stays {}
		n.Style = 0
	}
	for _, inner := range n.Content {
		block(inner)
	}
}
