package api

import (
	_ "embed" // llms.txt and the workflows
	"net/http"
)

//go:embed llms.txt
var guide []byte

//go:embed workflows.arazzo.yaml
var workflows []byte

// Guide serves what a program that reads text has to know of the service, and links to the
// documents that the service has, in the form of llmstxt.org.
func Guide() http.Handler { return file{"text/plain; charset=utf-8", guide} }

// Workflows serves the journeys of a client in the form of Arazzo 1.0.1. Its source is
// openapi.yaml beside it.
func Workflows() http.Handler { return file{"application/yaml", workflows} }
