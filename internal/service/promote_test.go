package service_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/infra/devissuer"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// Two processes serve while a read model is rebuilt, compared and promoted, twice. No
// write fails, and both processes find every created workspace at once.
func TestPromotionIsNotNoticed(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.start()
	clients := startClients(t, d.url, d.another("api"))
	for range 2 {
		clients.progress(200)
		follower := d.running("readmodel", "rebuild", "next")
		d.awaitSchema("next")
		clients.progress(100)
		if said := d.output("readmodel", "diff", "next"); !strings.Contains(said, "equal") {
			t.Errorf("diff says %q, want %q in it", said, "equal")
		}
		d.tool("readmodel", "promote", "next")
		clients.progress(200)
		if said := follower.wait(); !strings.Contains(said, "next is promoted") {
			t.Errorf("the rebuild that followed the log says %q, want %q in it", said, "next is promoted")
		}
		if said := d.refused("readmodel", "drop", "readmodel"); !strings.Contains(said, "is the live read model") {
			t.Errorf("dropping the live read model says %q, want %q in it", said, "is the live read model")
		}
		d.tool("readmodel", "rebuild", "--once", "other")
		if said := d.refused("readmodel", "promote", "other"); !strings.Contains(said, "netsim readmodel drop readmodel_before") {
			t.Errorf("promoting while readmodel_before exists says %q, want %q in it", said, "netsim readmodel drop readmodel_before")
		}
		d.tool("readmodel", "drop", "other")
		d.tool("readmodel", "drop", "readmodel_before")
	}
	clients.stop()
}

// When the promoting process is killed or stopped at any step, writes continue and the
// promotion can be repeated.
func TestAPromotionThatDiesHoldsNothingUp(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.start()
	clients := startClients(t, d.url, d.url)
	clients.progress(50)
	d.tool("readmodel", "rebuild", "--once", "next")
	for _, c := range []struct {
		step   string
		signal syscall.Signal
	}{{"following", syscall.SIGKILL}, {"fenced", syscall.SIGKILL}, {"fenced", syscall.SIGSTOP}} {
		release := d.holdUpSwitch("next")
		p := d.running("readmodel", "promote", "next")
		p.awaitLine(c.step)
		p.cmd.Process.Signal(c.signal) //nolint:errcheck // the checks below notice a failure
		clients.progress(100)
		p.kill()
		release()
		clients.progress(50)
	}
	p := d.running("readmodel", "promote", "next")
	p.awaitLine("promoted")
	p.kill()
	clients.progress(100)
	if said := d.refused("readmodel", "promote", "next"); !strings.Contains(said, "there is no read model next") {
		t.Errorf("a promotion repeated after the switch says %q, want %q in it", said, "there is no read model next")
	}
	clients.stop()
}

// holdUpSwitch prevents the renaming of the schema until release is called.
func (d *deployment) holdUpSwitch(schema string) (release func()) {
	d.t.Helper()
	conn, err := pgx.Connect(d.t.Context(), d.postgres.URL)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := conn.Exec(d.t.Context(), `BEGIN; SELECT FROM pg_namespace WHERE nspname = '`+schema+`' FOR UPDATE`); err != nil {
		d.t.Fatal(err)
	}
	return func() { conn.Close(d.t.Context()) } //nolint:errcheck // the lock ends in any case
}

// tooling is a running netsim command.
type tooling struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	said  strings.Builder
}

// running starts a netsim command.
func (d *deployment) running(args ...string) *tooling {
	d.t.Helper()
	p := &tooling{t: d.t, cmd: exec.CommandContext(d.t.Context(), d.binary, args...)}
	p.cmd.Env = d.env
	p.cmd.Stderr = d.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	return p
}

// awaitLine reads until a line begins with the prefix.
func (p *tooling) awaitLine(prefix string) {
	p.t.Helper()
	for p.lines.Scan() {
		fmt.Fprintln(&p.said, p.lines.Text())
		if strings.HasPrefix(p.lines.Text(), prefix) {
			return
		}
	}
	p.t.Fatalf("the command ended without a line %q: %s", prefix, p.said.String())
}

// wait waits until the command has succeeded, and returns its output.
func (p *tooling) wait() string {
	p.t.Helper()
	for p.lines.Scan() {
		fmt.Fprintln(&p.said, p.lines.Text())
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%v: %v\n%s", p.cmd.Args, err, p.said.String())
	}
	return p.said.String()
}

func (p *tooling) kill() {
	p.cmd.Process.Kill() //nolint:errcheck // the process may have ended
	p.cmd.Wait()         //nolint:errcheck // the process was killed
}

// output runs a command that must succeed, and returns its output.
func (d *deployment) output(args ...string) string { return d.running(args...).wait() }

// refused runs a command that must fail, and returns its output.
func (d *deployment) refused(args ...string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), d.binary, args...)
	cmd.Env = d.env
	out, err := cmd.CombinedOutput()
	if err == nil {
		d.t.Errorf("netsim %s succeeded, want an error", strings.Join(args, " "))
	}
	return string(out)
}

// another starts one more process of the service with the roles. It returns the URL when
// the process is ready.
func (d *deployment) another(roles string) string { return d.beside(roles).url }

// beside starts one more process of the service with the roles, and returns it when it
// is ready.
func (d *deployment) beside(roles string) *deployment {
	d.t.Helper()
	other := d.launched(roles)
	other.awaitReady()
	return other
}

// launched starts one more process of the service with the roles.
func (d *deployment) launched(roles string) *deployment {
	d.t.Helper()
	http, ops := teststack.FreeAddress(d.t), teststack.FreeAddress(d.t)
	other := &deployment{
		t: d.t, binary: d.binary, log: d.log, url: "http://" + http, ops: "http://" + ops, broker: d.broker, postgres: d.postgres,
	}
	other.env = append(d.env[:len(d.env):len(d.env)], "NETSIM_HTTP="+http, "NETSIM_OPS="+ops, "NETSIM_ROLES="+roles)
	other.launch()
	d.t.Cleanup(other.kill)
	return other
}

// awaitSchema waits until the schema exists.
func (d *deployment) awaitSchema(schema string) {
	d.t.Helper()
	testworld.Await(d.t, func() (there bool) {
		d.query(`SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = '`+schema+`')`, &there)
		return there
	})
}

// clients create workspaces through several processes, and read each workspace through
// all processes as soon as it is acknowledged.
type clients struct {
	*writers
	urls  []string
	reads atomic.Int64
	wg    sync.WaitGroup
	end   chan struct{}
	once  sync.Once
}

func startClients(t *testing.T, urls ...string) *clients {
	c := &clients{urls: urls, end: make(chan struct{})}
	c.writers = &writers{t: t, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	for n := range 8 {
		c.wg.Go(func() {
			w := &writers{t: t, url: urls[n%len(urls)], token: c.token}
			for i := 0; ; i++ {
				select {
				case <-c.end:
					return
				default:
				}
				id, status := w.send(fmt.Sprintf("workspace %d of %d", i, n))
				if status != http.StatusCreated {
					t.Errorf("a write is answered with %d, want 201", status)
					continue
				}
				for _, url := range urls {
					if status := c.read(url, id); status != http.StatusOK {
						t.Errorf("read %d, of the acknowledged %s: %d, want 200", c.reads.Load(), id, status)
					}
				}
				c.acks.Add(1)
			}
		})
	}
	t.Cleanup(c.stop)
	return c
}

// read reads a workspace and returns the status of the response, or 0.
func (c *clients) read(url, id string) int {
	req, err := http.NewRequest("GET", url+"/api/v1/workspaces/"+id, nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body) //nolint:errcheck // only the status matters
	c.reads.Add(1)
	return resp.StatusCode
}

func (c *clients) stop() {
	c.once.Do(func() {
		close(c.end)
		testwait.Group(c.t, &c.wg, "the clients")
		c.t.Logf("%d writes and %d reads", c.acks.Load(), c.reads.Load())
	})
}

// execute runs statements on the database.
func (d *deployment) execute(sql string) {
	d.t.Helper()
	conn, err := pgx.Connect(d.t.Context(), d.postgres.URL)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(d.t.Context())) //nolint:errcheck // the statement has ended
	if _, err := conn.Exec(d.t.Context(), sql); err != nil {
		d.t.Fatal(err)
	}
}
