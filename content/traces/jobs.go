package traces

// ExtractTraceset is the job that reads what the files of a traceset hold.
type ExtractTraceset struct {
	TracesetID string `json:"tracesetId"`
}

// Kind is its stored name.
func (ExtractTraceset) Kind() string { return "extract_traceset" }
