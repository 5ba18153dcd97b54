// Package api is the contract: openapi.yaml, written by hand, and what is
// generated from it: types, routes and the strict server that writeapi and
// readapi implement. A handler returns refusals as errors; the generated code
// therefore knows only the answers of operations that went well.
package api

import _ "embed"

//go:generate go tool -modfile=../tools/go.mod oapi-codegen -config oapi-codegen.yaml openapi.yaml

//go:embed openapi.yaml
var document []byte

// Document returns the contract, OpenAPI 3.1 in YAML. The caller must not
// change it.
func Document() []byte { return document }
