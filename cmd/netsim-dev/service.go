package main

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/sumdb/note"
)

const (
	serviceReady = 2 * time.Minute  // bounds the wait for readiness, including a first rebuild
	serviceGrace = 30 * time.Second // bounds the wait for an orderly end
	bucket       = "netsim"         // the service creates it if it is missing
)

// service is the service, as a child of this process.
type service struct {
	binary string
	http   string // where it serves the API
	ops    string // where it serves health and metrics
	data   string // absolute, because the S3 gateway changes the working directory
	cwd    string // the working directory at the start; the banner's paths are relative to it
	broker string // the part that keeps the log: broker or kafka
	child  *child
}

// newService reads where the service listens and keeps its data from
// NETSIM_HTTP, NETSIM_OPS and NETSIM_DATA.
func newService(binary string) (*service, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s := &service{cwd: cwd, data: os.Getenv("NETSIM_DATA"), broker: "broker"}
	if s.binary, err = filepath.Abs(binary); err != nil {
		return nil, err
	}
	if _, err := os.Stat(s.binary); err != nil {
		return nil, fmt.Errorf("the service's program %s is missing; build it with: make build", s.binary)
	}
	if s.data == "" {
		s.data = defaultData
	}
	if s.data, err = filepath.Abs(s.data); err != nil {
		return nil, err
	}
	if s.http, err = listenAddress("NETSIM_HTTP", defaultHTTP); err != nil {
		return nil, err
	}
	s.ops, err = listenAddress("NETSIM_OPS", "127.0.0.1:0")
	return s, err
}

// start runs "netsim serve" against the parts. The kernel kills the service when
// this process dies: without its event log it could not shut down in order, and it
// must survive a kill in any case.
func (s *service) start(parts map[string]endpoint) error {
	// Keep the log of the last run, because crashes are examined after a restart.
	if err := os.Rename(s.log(), s.log()+".previous"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := s.makeKeys(); err != nil {
		return err
	}
	if err := s.issuerKey(); err != nil {
		return err
	}
	settings := s.environment(parts)
	if err := writeSettings(filepath.Join(s.data, "environment"), settings); err != nil {
		return err
	}
	cmd := exec.Command(s.binary, "serve")
	cmd.Dir = s.cwd
	cmd.Env = append(os.Environ(), settings...)
	cmd.Stdout, cmd.Stderr = log, log
	s.child, err = spawn(cmd, syscall.SIGKILL)
	return err
}

func (s *service) log() string { return filepath.Join(s.data, "service.log") }

// environment returns all settings of the service.
func (s *service) environment(parts map[string]endpoint) []string {
	objects, issuer := parts["objects"], parts["issuer"]
	return []string{
		"NETSIM_HTTP=" + s.http,
		"NETSIM_OPS=" + s.ops,
		"NETSIM_DATA=" + s.data,
		"NETSIM_DRAIN=0s",   // there is no router to drain
		"NETSIM_DATA_DEV=1", // accepts unreplicated topics, as there is one broker
		"NETSIM_KAFKA=" + parts[s.broker].Addr,
		"NETSIM_POSTGRES=" + parts["postgres"].URL,
		"NETSIM_S3_ENDPOINT=" + objects.URL,
		"NETSIM_S3_REGION=" + objects.Region,
		"NETSIM_S3_BUCKET=" + bucket,
		"NETSIM_S3_ACCESS_KEY=" + objects.AccessKey,
		"NETSIM_S3_SECRET_KEY=" + objects.SecretKey,
		"NETSIM_OIDC_ISSUER=" + issuer.Issuer,
		"NETSIM_OIDC_JWKS_URL=" + issuer.JWKSURL,
		"NETSIM_OIDC_AUDIENCE=" + issuer.Audience,
		"NETSIM_CONSOLE_URL=" + s.console(),
		"NETSIM_CONSOLE_CLIENT_ID=netsim-console", // the issuer knows no clients
		"NETSIM_CONSOLE_DISCOVERY_URL=" + issuer.URL + "/.well-known/openid-configuration",
		"NETSIM_AUDIT_KEY=" + s.auditKeyFile(),
		"NETSIM_WRITER_KEYS_FILE=" + s.writerKeysFile(),
		"NETSIM_WEBHOOK_KEYS_FILE=" + s.webhookKeysFile(),
		"NETSIM_WEBHOOK_NETWORKS=127.0.0.0/8,::1/128",                              // receivers of this machine
		"NETSIM_QUOTAS=" + cmp.Or(os.Getenv("NETSIM_QUOTAS"), "runs.running=1000"), // one account may use all workers
	}
}

// issuerKey makes the issuer's first key, by minting a token: the service is not
// ready while the issuer publishes no key.
func (s *service) issuerKey() error {
	mint := exec.Command(s.binary, "token", "--data", s.data)
	mint.Dir = s.cwd
	if output, err := mint.CombinedOutput(); err != nil {
		return fmt.Errorf("make the issuer's key: %w: %s", err, output)
	}
	return nil
}

func (s *service) writerKeysFile() string { return filepath.Join(s.data, "writer.keys") }

func (s *service) webhookKeysFile() string { return filepath.Join(s.data, "webhook.keys") }

func (s *service) auditKeyFile() string { return filepath.Join(s.data, "audit.key") }

// makeKeys makes the keys that sign log checkpoints, seal records, and derive the secrets
// of webhooks, unless they exist.
func (s *service) makeKeys() error {
	return errors.Join(
		makeKey(s.auditKeyFile(), func() (string, error) {
			private, _, err := note.GenerateKey(rand.Reader, "netsim-dev")
			return private, err
		}),
		makeKey(s.writerKeysFile(), func() (string, error) {
			secret := make([]byte, 32)
			_, err := rand.Read(secret)
			return hex.EncodeToString(secret), err
		}),
		makeKey(s.webhookKeysFile(), func() (string, error) {
			secret := make([]byte, 32)
			_, err := rand.Read(secret)
			return "dev:" + base64.StdEncoding.EncodeToString(secret), err
		}))
}

// makeKey writes a key to a file unless it exists.
func makeKey(path string, generate func() (string, error)) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	key, err := generate()
	if err == nil {
		_, err = file.WriteString(key + "\n")
	}
	return errors.Join(err, file.Close())
}

// writeSettings writes the settings to a file that a shell can source, for command
// line tools that use the same servers. The file has secrets.
func writeSettings(path string, settings []string) error {
	var text strings.Builder
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		fmt.Fprintf(&text, "export %s=%s\n", name, quote(value))
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}

// ready waits until the service is ready. It returns an error when the service has
// ended or the timeout has passed.
func (s *service) ready() error {
	client := &http.Client{Timeout: 5 * time.Second}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(serviceReady)
	for {
		select {
		case <-deadline:
			return fmt.Errorf("the service is not ready after %v; see %s", serviceReady, s.log())
		case <-s.child.ended:
			return s.ended()
		case <-tick.C:
		}
		res, err := client.Get("http://" + s.ops + "/readyz")
		if err != nil {
			continue
		}
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return nil
		}
	}
}

// ended returns how the service ended, with the last lines of its log.
func (s *service) ended() error {
	text, _ := os.ReadFile(s.log())
	const tailBytes = 2000
	tail := strings.TrimSpace(string(text[max(0, len(text)-tailBytes):]))
	if s.child.err == nil {
		return fmt.Errorf("the service ended by itself; its log %s ends with:\n%s", s.log(), tail)
	}
	return fmt.Errorf("the service ended: %w; its log %s ends with:\n%s", s.child.err, s.log(), tail)
}

// stop ends the service in order. The parts must still run.
func (s *service) stop() error {
	return s.child.stop(syscall.SIGTERM, serviceGrace)
}

// banner returns the text that lists the addresses and a command to paste.
func (s *service) banner(parts map[string]endpoint) string {
	token := s.relative(s.binary) + " token"
	if s.data != filepath.Join(s.cwd, defaultData) {
		token = "NETSIM_DATA=" + quote(s.data) + " " + token
	}
	data := s.relative(s.data)
	if moved := parts["postgres"].Data; moved != "" {
		data += " and, because PostgreSQL's user cannot enter it, " + moved
	}
	base := "http://" + reachable(s.http)
	return fmt.Sprintf(`
netsim is ready

  Console  %[6]s/console/
  API      %[1]s/api/v1
  Docs     %[1]s/docs
  Ops      http://%[2]s/readyz and /metrics
  Data     %[3]s
  Log      %[4]s

Try it:

  curl -H "Authorization: Bearer $(%[5]s)" %[1]s/api/v1/workspaces

Ctrl-C ends everything.
`, base, reachable(s.ops), data, s.relative(s.log()), token, s.console())
}

// relative returns the path, quoted, relative to the first working directory if it
// is below it.
func (s *service) relative(path string) string {
	if short, err := filepath.Rel(s.cwd, path); err == nil && filepath.IsLocal(short) {
		return quote("./" + short)
	}
	return quote(path)
}

// console returns the URL by which browsers reach the service. NETSIM_CONSOLE_URL sets
// another one, of a router in front of it.
func (s *service) console() string {
	return cmp.Or(os.Getenv("NETSIM_CONSOLE_URL"), "http://"+reachable(s.http))
}

// reachable returns the address that clients dial to reach a listen address.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// quote quotes a word for the shell where necessary.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,="
	if strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
