// Package telemetry makes what the service tells its operators with: the log,
// the metrics registry, and what build it is.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// NewLog returns a logger that writes one line per record to w, as "json" or
// as "text". Whatever is logged, text that looks like a credential is replaced
// before it is written.
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
