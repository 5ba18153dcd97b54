// Command catalogue generates the reference of events for those who read them:
// docs/events.md, api/asyncapi.yaml, api/datacontract.yaml and a JSON Schema of each
// type's data in api/events. It copies the meaning of types and fields from their Go
// comments. Run it with
//
//	go generate ./stream/contracts
package main

import (
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
	if files["docs/events.md"], err = page(types); err != nil {
		return nil, err
	}
	return files, nil
}
