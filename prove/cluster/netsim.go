package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"netsim/infra/wait"
)

// Netsim is a process of the service.
type Netsim struct {
	Front *Front // its object store

	name, roles, binary, dir string
	api, ops                 string // addresses
	env                      []string
	process                  *child
	logFrom                  int64 // where the log of the running process begins
}

// Name is the name of the process, such as netsim-1.
func (n *Netsim) Name() string { return n.name }

// URL is the base URL of the process's API, or "" if it has none.
func (n *Netsim) URL() string {
	if !strings.Contains(n.roles, "api") {
		return ""
	}
	return "http://" + n.api
}

// Start starts the process. It does not wait until the process is ready.
func (n *Netsim) Start() (err error) {
	cmd := exec.Command(n.binary, "serve")
	cmd.Env = n.env
	log := filepath.Join(n.dir, n.name+".log")
	n.logFrom = logSize(log)
	n.process, err = spawn(n.name, log, cmd)
	return err
}

// Running reports whether the process runs.
func (n *Netsim) Running() bool { return n.process.running() }

// Kill kills the process with SIGKILL.
func (n *Netsim) Kill() { n.process.kill() }

// Pause suspends the process until Resume.
func (n *Netsim) Pause() { n.process.pause() }

// Resume ends Pause.
func (n *Netsim) Resume() { n.process.resume() }

// Stop ends the process in order.
func (n *Netsim) Stop() error { return n.process.end(syscall.SIGTERM, slowest) }

// LastLine returns what a process that has ended printed last, with a report of a panic
// or of a data race if there is one.
func (n *Netsim) LastLine() string {
	text := n.process.lastLines().Error()
	for _, sign := range []string{"panic:", "fatal error:", "WARNING: DATA RACE"} {
		if at := strings.Index(text, sign); at >= 0 {
			return text[at:]
		}
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// Ready reports whether the process says that it is ready.
func (n *Netsim) Ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.ops+"/readyz", nil)
	if err != nil {
		return false
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	return reply.Body.Close() == nil && reply.StatusCode == http.StatusOK
}

// restartAfter is the pause before a process that has ended is started again.
const restartAfter = time.Second

// await waits until the process is ready. It starts a process that ends again, as systemd
// or Kubernetes does.
func (n *Netsim) await(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for !n.Ready(ctx) {
		pause := 100 * time.Millisecond
		if !n.Running() {
			if err := n.Start(); err != nil {
				return err
			}
			pause = restartAfter
		}
		if err := wait.For(ctx, pause); err != nil {
			return fmt.Errorf("%s is not ready after %v: %w", n.name, timeout, n.process.lastLines())
		}
	}
	return nil
}

// Tool runs a command of netsim with settings that reach every server directly, and
// returns what it prints.
func (c *Cluster) Tool(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.options.Binary, args...)
	cmd.Env = append(slices.Clone(c.toolEnv), "NETSIM_POSTGRES="+c.Primary().URL())
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("netsim %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// secrets makes the keys of the service.
func (c *Cluster) secrets(ctx context.Context) error {
	writer := filepath.Join(c.options.Dir, "writer.keys")
	if err := os.WriteFile(writer, []byte(strings.Repeat("5e", 32)+"\n"), 0o600); err != nil {
		return err
	}
	key := exec.CommandContext(ctx, c.options.Binary, "audit", "key", "--make", c.auditKey())
	if out, err := key.CombinedOutput(); err != nil {
		return fmt.Errorf("make the audit key: %w: %s", err, out)
	}
	return nil
}

func (c *Cluster) auditKey() string { return filepath.Join(c.options.Dir, "audit.key") }

// environment returns the settings of a process or of a tool. They are those of
// production: three replicas, sealed records.
func (c *Cluster) environment(brokers []string, objects string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.options.Dir, "TMPDIR=" + c.options.Dir,
		"NETSIM_KAFKA=" + strings.Join(brokers, ","), "NETSIM_PARTITIONS=4", "NETSIM_REPLICATION=3",
		"NETSIM_S3_ENDPOINT=http://" + objects, "NETSIM_S3_REGION=" + c.objects.Region, "NETSIM_S3_BUCKET=netsim",
		"NETSIM_S3_ACCESS_KEY=" + c.objects.AccessKey, "NETSIM_S3_SECRET_KEY=" + c.objects.SecretKey,
		"NETSIM_OIDC_ISSUER=" + c.issuer.Issuer, "NETSIM_OIDC_JWKS_URL=" + c.issuer.JWKSURL, "NETSIM_OIDC_AUDIENCE=" + c.issuer.Audience,
		"NETSIM_AUDIT_KEY=" + c.auditKey(), "NETSIM_WRITER_KEYS_FILE=" + filepath.Join(c.options.Dir, "writer.keys"),
		"NETSIM_REACTION_RETRIES=30", // eleven minutes: on a slow machine a fault may last longer than the 80 seconds of the default
		"GORACE=halt_on_error=1",
	}
}
