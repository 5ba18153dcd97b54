// Package api is the contract: openapi.yaml, and the types, routes and strict
// server that are generated from it. Packages writeapi and readapi implement the
// server. A handler returns refusals as errors, so the generated code has only the
// responses of success.
package api

import _ "embed"

//go:generate go tool -modfile=../tools/go.mod oapi-codegen -config oapi-codegen.yaml -templates templates openapi.yaml

//go:embed openapi.yaml
var document []byte

// Document returns the contract, OpenAPI 3.1 in YAML. The caller must not
// change it.
func Document() []byte { return document }
