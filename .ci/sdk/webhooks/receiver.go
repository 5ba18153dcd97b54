// Program webhooks is a receiver (drive.py): receiver standardwebhooks|netsim SECRETS
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	netsim "netsim/sdk/go"
)

func verify(library string, body []byte, headers http.Header, secret string) (event netsim.Event, err error) {
	if library == "netsim" {
		return netsim.Unwrap(body, headers, secret)
	}
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return event, err
	}
	if err := webhook.Verify(body, headers); err != nil {
		return event, err
	}
	return event, json.Unmarshal(body, &event)
}

type report struct {
	ID       string            `json:"id"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	Status   int               `json:"status"`
	Error    string            `json:"error,omitempty"`
	Type     string            `json:"type"`
	Subject  string            `json:"subject"`
	Sequence string            `json:"sequence"`
}

func main() {
	library, secrets := os.Args[1], os.Args[2]
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("{\"url\": \"http://%s/\"}\n", listener.Addr())
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		is := report{ID: r.Header.Get("Webhook-Id"), Headers: map[string]string{}, Body: string(body), Status: http.StatusNoContent}
		for name := range r.Header {
			is.Headers[name] = r.Header.Get(name)
		}
		lines, err := os.ReadFile(secrets)
		if err != nil {
			log.Fatal(err)
		}
		for secret := range strings.FieldsSeq(string(lines)) {
			event, err := verify(library, body, r.Header, secret)
			if err != nil {
				is.Status, is.Error = http.StatusUnauthorized, err.Error()
			}
			is.Type, is.Subject, is.Sequence = event.Type, event.Subject, event.Sequence
		}
		if err := json.NewEncoder(os.Stdout).Encode(is); err != nil {
			log.Fatal(err)
		}
		w.WriteHeader(is.Status)
	})
	server := http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { log.Fatal(server.Serve(listener)) }()
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		log.Fatal(err)
	}
}
