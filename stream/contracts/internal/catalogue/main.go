// Command catalogue generates the reference of events for those who read them:
// docs/events.md, api/asyncapi.yaml, api/datacontract.yaml, a JSON Schema of each
// type's data in api/events, and the comments of columns in stream/tables. It copies the meaning of types and fields from their Go
// comments. Run it with
//
//	go generate ./stream/contracts
package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	if err := write(filepath.Join("..", "..")); err != nil { // go generate runs in stream/contracts
		fmt.Fprintln(os.Stderr, "catalogue:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// meanings lists what types and the members of their data mean, for the comments of tables
// and columns: type, member or - for the type itself, and meaning, with tabs.
func meanings(types []eventType) []byte {
	var out bytes.Buffer
	for _, t := range types {
		fmt.Fprintf(&out, "%s\t-\t%s\n", t.Name, t.When)
		for _, f := range t.Fields {
			if f.Comment != "" {
				fmt.Fprintf(&out, "%s\t%s\t%s\n", t.Name, f.Name, f.Comment)
			}
		}
	}
	return out.Bytes()
}

// generate returns the generated files, by path below the repository's root.
func generate(root string) (map[string][]byte, error) {
	types, err := read(filepath.Join(root, "events"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, t := range types {
		if files["api/events/"+t.schemaFile()], err = schemaOf(t); err != nil {
			return nil, err
		}
	}
	if files["api/asyncapi.yaml"], err = asyncAPI(types); err != nil {
		return nil, err
	}
	if files["api/datacontract.yaml"], err = openDataContract(types); err != nil {
		return nil, err
	}
	files["stream/tables/meanings.txt"] = meanings(types)
	if files["docs/events.md"], err = page(types); err != nil {
		return nil, err
	}
	return files, nil
}
