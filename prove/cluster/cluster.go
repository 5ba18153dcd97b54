// Package cluster runs what the fault campaign tests, on loopback: three nodes of
// Apache Kafka, PostgreSQL with a standby, an object store, a token issuer, and several
// processes of netsim. Each process reaches each server through a link of its own,
// which can be disturbed. All processes end when this process dies.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/infra/wait"
	"netsim/internal/devpart"
)

// Options say what to run.
type Options struct {
	Dir    string   // for all data; every user must be able to search it
	Binary string   // the service
	Dev    string   // netsim-dev
	Jars   string   // directory of Apache Kafka's jars
	Heap   string   // of a broker, such as 320m
	Seed   uint64   // of the faults of the object store
	Roles  []string // of each process of the service
	Disks  *Disks   // nil: the data is on the file system of Dir
}

// Cluster is a running cluster. Its methods that change parts must be called by one
// goroutine at a time.
type Cluster struct {
	Brokers []*Broker
	Netsims []*Netsim

	options  Options
	links    *links
	ports    *ports
	postgres [2]*Postgres // the primary first
	standby  bool         // the second follows
	linkToDB map[string]string
	objects  *devpart.Part
	issuer   *devpart.Part
	toolEnv  []string
}

// Brokers of a cluster.
const brokerCount = 3

// slowest is how long a server may take to start or to end. It is far above what it
// takes, because a machine may be slow.
const slowest = 10 * time.Minute

// Start starts a cluster and returns when every process of the service is ready.
func Start(ctx context.Context, o Options) (_ *Cluster, err error) {
	c := &Cluster{options: o, links: newLinks(), ports: newPorts()}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if err := c.secrets(ctx); err != nil {
		return nil, err
	}
	var servers errgroup.Group
	if err := c.prepareBrokers(); err != nil {
		return nil, err
	}
	servers.Go(c.startBrokers)
	servers.Go(func() error { return c.startPostgres(ctx) })
	servers.Go(func() error { return c.startParts(ctx) })
	if err := servers.Wait(); err != nil {
		return nil, err
	}
	return c, c.startNetsims(ctx)
}

// ErrNotReady is the error of Start when the servers run and the service does not
// become ready.
var ErrNotReady = errors.New("the service does not become ready")

func (c *Cluster) prepareBrokers() error {
	java, err := exec.LookPath("java")
	if err != nil {
		return fmt.Errorf("find Java for Apache Kafka: %w", err)
	}
	quorum := make([]string, brokerCount)
	addresses := make([]string, brokerCount)
	for i := range brokerCount {
		if addresses[i], err = c.ports.take(); err != nil {
			return err
		}
		quorum[i] = fmt.Sprintf("%d@%s", i+1, addresses[i])
	}
	for i := range brokerCount {
		b := &Broker{ID: i + 1, java: java, jars: c.options.Jars, heap: c.options.Heap}
		if b.dir, err = c.dir(b.Name()); err != nil {
			return err
		}
		b.voters = strings.Join(quorum, ",")
		b.listeners = []listener{{controllers, addresses[i], ""}}
		direct, err := c.ports.take()
		if err != nil {
			return err
		}
		b.listeners = append(b.listeners, listener{tools, direct, direct})
		if err := c.listen(b, peers, "peers"); err != nil {
			return err
		}
		for n := range c.options.Roles {
			if err := c.listen(b, fmt.Sprintf("NETSIM%d", n+1), netsimName(n)); err != nil {
				return err
			}
		}
		c.Brokers = append(c.Brokers, b)
	}
	return nil
}

func netsimName(i int) string { return fmt.Sprintf("netsim-%d", i+1) }

// listen gives a broker a listener that is reached through a link.
func (c *Cluster) listen(b *Broker, name, from string) error {
	address, err1 := c.ports.take()
	advertised, err2 := c.ports.take()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	b.listeners = append(b.listeners, listener{name, address, advertised})
	return c.links.open(from, b.Name(), advertised, address)
}

func (c *Cluster) startBrokers() error {
	for _, b := range c.Brokers {
		if err := b.configure(); err != nil {
			return err
		}
	}
	if err := c.Brokers[0].format(newClusterID()); err != nil {
		return err
	}
	for _, b := range c.Brokers[1:] {
		if err := b.formatAs(c.Brokers[0]); err != nil {
			return err
		}
	}
	for _, b := range c.Brokers {
		if err := b.Start(); err != nil {
			return err
		}
	}
	return nil
}

// dir makes the directory of a part's data.
func (c *Cluster) dir(name string) (string, error) {
	if c.options.Disks != nil {
		return c.options.Disks.mount(name)
	}
	dir := filepath.Join(c.options.Dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

func (c *Cluster) startPostgres(ctx context.Context) error {
	binaries, err := findPostgres()
	if err != nil {
		return err
	}
	owner, err := unprivileged()
	if err != nil {
		return err
	}
	for i := range c.postgres {
		p := &Postgres{name: fmt.Sprintf("postgres-%d", i+1), binaries: binaries, owner: owner, faketime: findFaketime()}
		if p.dir, err = c.dir(p.name); err != nil {
			return err
		}
		if p.address, err = c.ports.take(); err != nil {
			return err
		}
		c.postgres[i] = p
	}
	if err := c.postgres[0].create(ctx); err != nil {
		return err
	}
	c.linkToDB = map[string]string{}
	for i := range c.options.Roles {
		if err := c.linkPostgres(netsimName(i)); err != nil {
			return err
		}
	}
	if err := c.linkPostgres("standby"); err != nil {
		return err
	}
	return c.MakeStandby(ctx)
}

func (c *Cluster) linkPostgres(from string) error {
	address, err := c.ports.take()
	if err != nil {
		return err
	}
	c.linkToDB[from] = address
	return c.links.open(from, "postgres", address, c.postgres[0].address)
}

// startParts starts the object store and the token issuer.
func (c *Cluster) startParts(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	for name, p := range map[string]**devpart.Part{"objects": &c.objects, "issuer": &c.issuer} {
		dir, err := c.dir(name)
		if err != nil {
			return err
		}
		if *p, err = devpart.Start(ctx, c.options.Dev, name, dir); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) startNetsims(ctx context.Context) error {
	for i, roles := range c.options.Roles {
		if err := c.addNetsim(i, roles); err != nil {
			return err
		}
	}
	var direct []string
	for _, b := range c.Brokers {
		direct = append(direct, b.Address())
	}
	c.toolEnv = c.environment(direct, c.objects.Addr)
	if _, err := c.Token(Identity{Service: true}); err != nil { // makes the issuer's key
		return err
	}
	if err := c.awaitQuorum(ctx); err != nil {
		return err
	}
	for _, n := range c.Netsims {
		if err := n.Start(); err != nil {
			return err
		}
	}
	if err := c.AwaitReady(ctx, slowest); err != nil {
		return fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	return nil
}

// addNetsim prepares a process of the service with its links.
func (c *Cluster) addNetsim(i int, roles string) (err error) {
	n := &Netsim{name: netsimName(i), roles: roles, binary: c.options.Binary, dir: c.options.Dir}
	var brokers []string
	for _, b := range c.Brokers {
		brokers = append(brokers, b.on(fmt.Sprintf("NETSIM%d", i+1)).advertised)
	}
	var taken [4]string
	for k := range taken {
		if taken[k], err = c.ports.take(); err != nil {
			return err
		}
	}
	front, link := taken[2], taken[3]
	n.api, n.ops = taken[0], taken[1]
	if err := c.links.open(n.name, "objects", link, c.objects.Addr); err != nil {
		return err
	}
	if n.Front, err = openFront(front, link, c.options.Seed+uint64(i)); err != nil {
		return err
	}
	n.env = append(c.environment(brokers, front),
		"NETSIM_HTTP="+n.api, "NETSIM_OPS="+n.ops, "NETSIM_ROLES="+roles, "NETSIM_DRAIN=0s", "NETSIM_POSTGRES_POOL=16",
		"NETSIM_POSTGRES="+postgresURL(c.linkToDB[n.name], database),
	)
	c.Netsims = append(c.Netsims, n)
	return nil
}

// awaitQuorum waits until every broker accepts connections.
func (c *Cluster) awaitQuorum(ctx context.Context) error {
	for began := time.Now(); ; {
		all := true
		for _, b := range c.Brokers {
			if !b.Running() {
				return fmt.Errorf("%s ended: %w", b.Name(), b.process.lastLines())
			}
			all = all && b.Answers()
		}
		if all {
			return c.AwaitReplicas(ctx, slowest) // there are no topics yet, only brokers to register
		}
		if time.Since(began) > slowest {
			return errors.New("the brokers do not answer")
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// AwaitReady waits until every process of the service is ready.
func (c *Cluster) AwaitReady(ctx context.Context, timeout time.Duration) error {
	var all errgroup.Group
	for _, n := range c.Netsims {
		all.Go(func() error { return n.await(ctx, timeout) })
	}
	return all.Wait()
}

// Primary is the PostgreSQL server that takes writes.
func (c *Cluster) Primary() *Postgres { return c.postgres[0] }

// Links are all links of the cluster.
func (c *Cluster) Links() []*Link { return c.links.all }

// Close ends all processes, the service in order.
func (c *Cluster) Close() {
	for _, n := range c.Netsims {
		_ = n.process.end(syscall.SIGTERM, 20*time.Second)
	}
	for _, b := range c.Brokers {
		b.Kill()
	}
	for _, p := range c.postgres {
		if p != nil {
			p.Kill()
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, p := range []*devpart.Part{c.objects, c.issuer} {
		if p != nil {
			_ = p.Stop(ctx)
		}
	}
	for _, l := range c.links.all {
		l.proxy.Stop()
	}
	for _, n := range c.Netsims {
		if n.Front != nil {
			_ = n.Front.close()
		}
	}
}
