package traces

// ExtractTraceset is the job that extracts the metadata of a traceset.
type ExtractTraceset struct {
	TracesetID string `json:"tracesetId"`
}

// Kind returns the name under which the job is stored.
func (ExtractTraceset) Kind() string { return "extract_traceset" }
