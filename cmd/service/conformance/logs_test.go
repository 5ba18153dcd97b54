package conformance_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
)

// TestLogsHaveNoSecrets: whatever the level, and although nothing of the lines is replaced,
// the log of a service that answers every operation, and refuses each without a token or
// a body, has none of its secrets, no token and no signed link.
func TestLogsHaveNoSecrets(t *testing.T) {
	log := &written{}
	p := servicetest.StartLogged(t, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	w := newWorld(t, p)
	t.Run("requests", func(t *testing.T) {
		each(t, every, func(t *testing.T, op operation) {
			r := w.request(t, op)
			if reply := r.answer(w.client(t)); reply.Status >= 500 {
				t.Errorf("got %d %s", reply.Status, reply.Body)
			}
			r.send(p.Bearer(t, "hush-token"))
			if op.body != nil {
				r.withBody([]byte(`{"hush-member": "hush-value"`)).send(w.client(t))
			}
		})
	})
	forbidden := []string{"hush", "eyJ", "X-Amz-Signature", "X-Amz-Credential"}
	for i := range reflect.TypeFor[settings.Config]().NumField() {
		field := reflect.TypeFor[settings.Config]().Field(i)
		value := reflect.ValueOf(p.Config).Field(i)
		if field.Tag.Get("secret") == "" || value.String() == "" {
			continue
		}
		secret := value.String()
		if address, err := url.Parse(secret); err == nil && address.User != nil {
			secret, _ = address.User.Password()
		}
		if secret != "" {
			forbidden = append(forbidden, secret)
		}
	}
	if len(forbidden) < 6 {
		t.Errorf("the settings have %d secrets, want the keys of the object store at least", len(forbidden)-4)
	}
	text := log.String()
	if !strings.Contains(text, "level=INFO") {
		t.Error("nothing is logged")
	}
	for line := range strings.Lines(text) {
		for _, secret := range forbidden {
			if strings.Contains(line, secret) {
				t.Errorf("a line has %q: %s", secret, line)
			}
		}
	}
}

// written keeps what is written to it. It is safe for concurrent use.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

var _ io.Writer = (*written)(nil)

// Write implements io.Writer.
func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
