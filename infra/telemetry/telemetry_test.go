package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// No credential appears in the log, in either format. Every credential in the cases
// contains hush, hu sh or eyJ.
func TestLogHidesCredentials(t *testing.T) {
	t.Parallel()
	const jwt = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJodXNoIn0.hush-hush_hush"
	for name, write := range map[string]func(*slog.Logger){
		"message":       func(l *slog.Logger) { l.Info("got " + jwt) },
		"attribute":     func(l *slog.Logger) { l.Info("x", "header", "Bearer hush") },
		"lower case":    func(l *slog.Logger) { l.Info("x", "header", "bearer hush") },
		"in a group":    func(l *slog.Logger) { l.WithGroup("g").Info("x", "a", jwt) },
		"kept by With":  func(l *slog.Logger) { l.With("a", jwt).Info("x") },
		"error":         func(l *slog.Logger) { l.Info("x", "error", fmt.Errorf("call: %w", errors.New("Bearer hush"))) },
		"struct":        func(l *slog.Logger) { l.Info("x", "v", http.Header{"Authorization": {"Bearer hush"}}) },
		"cut token":     func(l *slog.Logger) { l.Info("x", "v", "eyJhbGciOiJodXNo") },
		"link":          func(l *slog.Logger) { l.Info("x", "v", "http://s3/b/k?X-Amz-Date=1&X-Amz-Signature=hush&a=b") },
		"link's key":    func(l *slog.Logger) { l.Info("x", "v", "http://s3/b/k?X-Amz-Credential=hush") },
		"url password":  func(l *slog.Logger) { l.Info("x", "v", "postgres://user:hush@db/x") },
		"dsn password":  func(l *slog.Logger) { l.Info("x", "v", "host=db password=hush user=u") },
		"dsn, quoted":   func(l *slog.Logger) { l.Info("x", "v", "host=db password='hu sh hush' user=u") },
		"by its name":   func(l *slog.Logger) { l.Info("x", "secretKey", "hush") },
		"token by name": func(l *slog.Logger) { l.Info("x", slog.Group("g", "token", "hush")) },
		"private key": func(l *slog.Logger) {
			l.Info("x", "v", "-----BEGIN EC PRIVATE KEY-----\nhush\nhush\n-----END EC PRIVATE KEY-----\n")
		},
	} {
		for _, format := range []string{"json", "text"} {
			t.Run(name+"/"+format, func(t *testing.T) {
				t.Parallel()
				var out bytes.Buffer
				log, err := NewLog(&out, format, slog.LevelInfo)
				if err != nil {
					t.Fatal(err)
				}
				write(log)
				for _, secret := range []string{"hush", "hu sh", "eyJ"} {
					if strings.Contains(out.String(), secret) {
						t.Errorf("the line shows %q: %s", secret, &out)
					}
				}
				if !strings.Contains(out.String(), hidden) {
					t.Errorf("the line does not contain %q: %s", hidden, &out)
				}
				if format == "json" && !json.Valid(out.Bytes()) {
					t.Errorf("the redacted line is not JSON: %s", &out)
				}
			})
		}
	}
}

func TestLogKeepsOrdinaryText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := NewLog(&out, "text", slog.LevelInfo)
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("below the level")
	log.Info("request", "route", "/simulations/{id}", "at", "http://127.0.0.1:8080/x", "status", 200)
	if got, want := out.String(), "msg=request route=/simulations/{id} at=http://127.0.0.1:8080/x status=200\n"; !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 1 {
		t.Errorf("line %q, want one that ends in %q", got, want)
	}
	if _, err := NewLog(&out, "xml", slog.LevelInfo); err == nil {
		t.Error("NewLog with format xml: no error")
	}
}

func TestBuildOf(t *testing.T) {
	t.Parallel()
	info := func(settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26", Settings: settings}
	}
	for name, test := range map[string]struct {
		info *debug.BuildInfo
		want Build
	}{
		"test binary": {info(), Build{Release, "unknown", "go1.26"}},
		"release":     {info(debug.BuildSetting{Key: "vcs.revision", Value: "abc"}), Build{Release, "abc", "go1.26"}},
		"changed": {
			info(debug.BuildSetting{Key: "vcs.modified", Value: "true"}, debug.BuildSetting{Key: "vcs.revision", Value: "abc"}),
			Build{Release, "abc-dirty", "go1.26"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, buildOf(test.info)); diff != "" {
				t.Errorf("build (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReleaseIsOneEverywhere: the changelog and the chart name the release of this code.
func TestReleaseIsOneEverywhere(t *testing.T) {
	t.Parallel()
	for file, line := range map[string]string{
		"../../docs/changelog.md":       `(?m)\A[^#]*# [^#]*## (\S+)`,
		"../../deploy/chart/Chart.yaml": `(?m)^appVersion: "(.*)"$`,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(line).FindSubmatch(text); len(found) != 2 || string(found[1]) != Release {
			t.Errorf("%s names the release %q, want %s", file, found, Release)
		}
	}
}
