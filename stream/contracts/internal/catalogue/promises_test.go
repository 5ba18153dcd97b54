package main

import (
	"testing"

	"netsim/api"
	"netsim/stream/publisher"
)

// TestTheReferenceNamesWhatIsPublished: the documents have the topics and headers of the
// publisher, and the paths at which the service serves schemas.
func TestTheReferenceNamesWhatIsPublished(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		if want := publisher.Topic("", f.Family); f.Topic() != want {
			t.Errorf("the topic of %s is documented as %s, and is %s", f.Family, f.Topic(), want)
		}
	}
	if schemaIDHeader != publisher.SchemaIDHeader {
		t.Errorf("the header of the schema id is documented as %s, and is %s", schemaIDHeader, publisher.SchemaIDHeader)
	}
	types, err := read(root + "/events")
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, s := range api.Schemas() {
		served[s.Path()] = true
	}
	for _, one := range types {
		if !served[one.schemaPath()] {
			t.Errorf("%s is documented and not served", one.schemaPath())
		}
	}
}
