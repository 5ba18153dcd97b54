package service

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"netsim/api"
	"netsim/api/contract"
	"netsim/cmd/settings"
	"netsim/infra/auth"
	"netsim/infra/devissuer"
	"netsim/infra/telemetry"
	"netsim/infra/web"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// canned answers at once, so the benchmark measures the cost of HTTP itself.
type canned struct{ api.StrictServerInterface }

func (canned) CreateWorkspace(_ context.Context, r api.CreateWorkspaceRequestObject) (api.CreateWorkspaceResponseObject, error) {
	return api.CreateWorkspace201JSONResponse{
		Body: api.Workspace{
			ID: "workspace_0000000000000000000000000a", Name: r.Body.Name, Owner: "user_0000000000000000000000000a",
			CreatedAt: api.Timestamp{Time: time.Unix(1e9, 0)}, ModifiedAt: api.Timestamp{Time: time.Unix(1e9, 0)},
		},
		Headers: api.CreateWorkspace201ResponseHeaders{ETag: `"1"`, Location: "/api/v1/workspaces/workspace_0000000000000000000000000a"},
	}, nil
}

func (canned) ListWorkspaces(context.Context, api.ListWorkspacesRequestObject) (api.ListWorkspacesResponseObject, error) {
	item := api.WorkspaceListItem{
		ID: "workspace_0000000000000000000000000a", Name: "name", Owner: "user_0000000000000000000000000a",
		CreatedAt: api.Timestamp{Time: time.Unix(1e9, 0)}, ModifiedAt: api.Timestamp{Time: time.Unix(1e9, 0)},
	}
	return api.ListWorkspaces200JSONResponse{Workspaces: []api.WorkspaceListItem{item, item, item, item, item, item, item, item, item, item}}, nil
}

// listenCanned serves canned on a listener, behind the whole router.
func listenCanned(b *testing.B) (address, token string) {
	b.Helper()
	lines, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	log, stop, err := telemetry.NewQueuedLog(lines, "json", slog.LevelInfo)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	return listenBehind(b, canned{}, log), teststack.Issuer(b).Token(devissuer.Options{Service: true})
}

// listenBehind serves handlers on a listener, behind the whole router. Tokens are those of
// the tests' issuer.
func listenBehind(t testing.TB, handlers api.StrictServerInterface, log *slog.Logger) (address string) {
	t.Helper()
	issuer := teststack.Issuer(t)
	verifier, err := auth.New(auth.Config{Issuer: issuer.URL, JWKSURL: issuer.JWKSURL, Audience: issuer.Audience, Platform: "netsim",
		Algorithms: []string{"ES256", "RS256"}, ServiceClaim: "token_use", ServiceValue: "service", KeysMaxAge: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	go verifier.Run(t.Context()) //nolint:errcheck // it ends with the test
	testworld.Await(t, func() bool {
		expire, _ := verifier.Keys()
		return !expire.IsZero()
	})
	terms, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	slots := map[web.Class]int{}
	for _, class := range web.Classes() {
		slots[class] = 1000
	}
	front := frontEnd{
		config:   settings.Config{ReadTimeout: time.Minute, VerdictTimeout: time.Minute, StreamLife: time.Hour, BillingEndpoints: true},
		contract: terms, verifier: verifier, metrics: observeRequests(telemetry.NewMetrics(telemetry.ReadBuild(), nil, time.Now)), log: log,
		admission: web.NewAdmission(web.AdmissionConfig{
			Slots: slots, Quota: func(string, string) int64 { return 1e9 },
			BodyTime: time.Minute, BodyMemory: 1 << 30, AccountMemory: 1 << 30, Now: time.Now,
		}),
		admit: func(context.Context) error { return nil }, recovered: func(context.Context) error { return nil }, behind: func() bool { return false },
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := web.CloseWhen(func() bool { return false })(front.router(handlers))
	server := web.NewServer(handler, time.Minute, log)
	go server.Serve(listener)            //nolint:errcheck // it ends with the test
	t.Cleanup(func() { server.Close() }) //nolint:errcheck // likewise
	return listener.Addr().String()
}

// BenchmarkHTTP sends requests over many persistent connections. The client allocates
// nothing for a request.
func BenchmarkHTTP(b *testing.B) {
	address, token := listenCanned(b)
	common := "Host: netsim.example\r\nUser-Agent: bench\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nAuthorization: Bearer " + token + "\r\n"
	body := `{"name":"research","description":"Fabric studies"}`
	for name, request := range map[string]string{
		"list":   "GET /api/v1/workspaces?limit=10 HTTP/1.1\r\n" + common + "\r\n",
		"create": "POST /api/v1/workspaces HTTP/1.1\r\n" + common + "Content-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n\r\n" + body,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(32)
			began := cpu(b)
			b.RunParallel(func(pb *testing.PB) {
				c, err := net.Dial("tcp", address)
				if err != nil {
					b.Error(err)
					return
				}
				defer c.Close()
				r := bufio.NewReader(c)
				for pb.Next() {
					if err := exchange(c, r, request); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(cpu(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpu returns the CPU time of this process, server and client, in nanoseconds.
func cpu(b *testing.B) int64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

// exchange sends a request and reads its response, which has a Content-Length.
func exchange(c io.Writer, r *bufio.Reader, request string) error {
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	length := 0
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case first && line[len("HTTP/1.1 ")] != '2':
			return fmt.Errorf("answered %s", line)
		case len(line) == 2: // the headers end
			_, err := r.Discard(length)
			return err
		}
		if digits, ok := bytes.CutPrefix(line, contentLength); ok {
			for _, digit := range bytes.TrimSpace(digits) {
				length = 10*length + int(digit-'0')
			}
		}
	}
}

var contentLength = []byte("Content-Length: ")
