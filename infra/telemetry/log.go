// Package telemetry has the logger, the metrics, the traces and the build information
// of a process.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLog returns a logger that writes one line per record to w, in the format
// "json" or "text". Text that looks like a credential is redacted, wherever in the
// record it is.
func NewLog(w io.Writer, format string, level slog.Leveler) (*slog.Logger, error) {
	w = redactor{w: w, shapes: secretShapes()}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: hideSecrets}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	}
	return nil, fmt.Errorf("log format must be json or text, got %q", format)
}
