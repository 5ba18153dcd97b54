package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"netsim/cmd/checkpoints"
	"netsim/cmd/connections"
	"netsim/cmd/service"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/infra/doctor"
	"netsim/infra/engines"
	"netsim/infra/eventlog"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/sqlstate"
)

// settingsChecks returns the checks of the settings, which can all be read.
func (x *examination) settingsChecks() []doctor.Check {
	const component = "settings"
	c := &x.config
	return []doctor.Check{
		{Component: component, Name: "values", Run: func(context.Context) doctor.Result {
			if len(c.Ignored()) > 0 {
				return doctor.Warning("remove them, or correct their names", "not settings of this release: %s", strings.Join(c.Ignored(), ", "))
			}
			return doctor.Good("all can be read, and none contradicts another")
		}},
		{Component: component, Name: "mode", Run: func(context.Context) doctor.Result {
			if c.Development {
				return doctor.Warning("set NETSIM_DATA_DEV=false for data that matters", "development mode: events can be lost or forged")
			}
			return doctor.Good("production")
		}},
		{Component: component, Name: "price list", Run: func(context.Context) doctor.Result {
			list, err := service.PriceList(c)
			if err != nil {
				return doctor.Failure("correct the file; 'netsim billing rates apply FILE --dry-run' checks it", "%v", err)
			}
			return doctor.Good("%d rates", len(list.Rates))
		}},
		{Component: component, Name: "library mount", Run: func(context.Context) doctor.Result {
			switch info, err := os.Stat(c.MountRoot); {
			case os.IsNotExist(err):
				return doctor.Good("%s is not on this machine; only simulators need it", c.MountRoot)
			case err != nil:
				return doctor.Warning("correct NETSIM_LIBRARY_MOUNT, or the rights", "%v", err)
			case !info.IsDir():
				return doctor.Failure("correct NETSIM_LIBRARY_MOUNT", "%s is not a directory", c.MountRoot)
			}
			return doctor.Good("%s is a directory", c.MountRoot)
		}},
	}
}

// consoleChecks returns the checks of logins to the console.
func (x *examination) consoleChecks() []doctor.Check {
	const component = "console"
	c := &x.config
	if !c.ServesConsole() {
		return []doctor.Check{{Component: component, Name: "login", Run: func(context.Context) doctor.Result {
			return doctor.Good("no console is served: NETSIM_CONSOLE_CLIENT_ID is not set")
		}}}
	}
	at := x.endpoint(component, cmp.Or(c.ConsoleDiscovery, auth.DiscoveryOf(c.Issuer)))
	return doctor.Console{Endpoint: at, Issuer: c.Issuer, Scopes: c.ConsoleScopes}.Checks()
}

// keyChecks returns the checks of the keys that seal records and sign checkpoints.
func (x *examination) keyChecks() []doctor.Check {
	return []doctor.Check{
		{Component: "keys", Name: "writer keys", Run: x.writerKeys},
		{Component: "keys", Name: "audit key", Run: x.auditKey},
	}
}

// writerKeys checks that the process has every key with which the log demands seals.
func (x *examination) writerKeys(ctx context.Context) doctor.Result {
	keys, err := x.config.ReadWriterKeys()
	switch {
	case err != nil:
		return doctor.Failure("set NETSIM_WRITER_KEYS to the keys of all processes", "%v", err)
	case keys == nil:
		return doctor.Warning("set NETSIM_WRITER_KEYS", "no key: any client of the event log can write to it")
	}
	if exists, err := x.projector.Exists(ctx); err != nil || !exists {
		return doctor.Good("records are sealed by the key %s; there is no read model to compare it with", keys.Signer())
	}
	sealings, err := projector.Sealings(ctx, x.pool)
	if err != nil {
		return doctor.Failure("see the checks of PostgreSQL", "%v", err)
	}
	open, retired := false, false
	unknown := map[string]bool{}
	for _, sealing := range sealings {
		open = open || len(sealing) == 0
		for i, id := range sealing {
			if !keys.Has(id) {
				unknown[id] = true
			}
			retired = retired || id == keys.Signer() && i < len(sealing)-1
		}
	}
	switch {
	case len(unknown) > 0:
		return doctor.Failure("add the keys of all processes to NETSIM_WRITER_KEYS, the retired ones at its end",
			"%d keys that seal the log are not in NETSIM_WRITER_KEYS: a rebuilt read model would lack their records", len(unknown))
	case retired:
		return doctor.Failure("put the current key first in NETSIM_WRITER_KEYS", "the first key is retired: its records are refused as forged")
	case open:
		return doctor.Warning("run 'netsim log seal' once every process has the key", "the log accepts records without a seal")
	}
	return doctor.Good("every partition demands seals, and every key that sealed the log is known")
}

// auditKey checks that the key can sign the next checkpoint of the log.
func (x *examination) auditKey(ctx context.Context) doctor.Result {
	key, err := connections.ReadAuditKey(&x.config)
	switch {
	case err != nil:
		return doctor.Failure("correct the path, or make a key with 'netsim audit key --make FILE'", "%v", err)
	case key == nil:
		return doctor.Warning("make a key with 'netsim audit key --make FILE' and set NETSIM_AUDIT_KEY", "no key: no checkpoints of the log are signed")
	}
	if info, err := os.Stat(x.config.AuditKey); err == nil && info.Mode()&fs.ModePerm&0o004 != 0 {
		return doctor.Warning("chmod 0600 "+x.config.AuditKey, "every user may read the key (mode %04o)", info.Mode().Perm())
	}
	keys, err := x.config.ReadWriterKeys()
	if err != nil {
		return doctor.Good("the key can be read; the log cannot be read without writer keys")
	}
	log, err := eventlog.Open(ctx, connections.EventLogConfig(&x.config, x.broker))
	if err != nil {
		return doctor.Good("the key can be read; the log cannot be asked whether it signed it")
	}
	defer log.Close()
	if d, err := log.Describe(ctx); err != nil || len(d.Topics) == 0 {
		return doctor.Good("the key can be read; the log has no checkpoint yet")
	}
	signed, err := connections.AuditLog(ctx, log, keys)
	if err == nil {
		err = checkpoints.Trust(ctx, signed, key)
	}
	if err != nil {
		return doctor.Failure("set NETSIM_AUDIT_KEY to the key of the last checkpoint, or see docs/audit.md about another key", "%v", err)
	}
	return doctor.Good("it may sign the next checkpoint of the log")
}

// level checks that this release knows the level of the deployment, and that it is raised.
func (x *examination) level(ctx context.Context) doctor.Result {
	const finish = "once no older release runs and you will not go back, run 'netsim upgrade finish' (docs/upgrading.md)"
	level, _, err := postgres.ReadLevel(ctx, x.pool)
	missing := sqlstate.IsMissing(err)
	if missing {
		level, err = events.FirstLevel, nil
	}
	if err == nil {
		err = projector.RefuseLevel(level)
	}
	switch {
	case errors.Is(err, projector.ErrNewerLevel):
		return doctor.Failure("start the newer release again", "%v", err)
	case err != nil:
		return doctor.Failure("look at PostgreSQL's log", "%v", err)
	case missing:
		return doctor.Warning("run 'netsim migrate'", "no level yet: the tables are missing")
	case level < events.Level:
		return doctor.Warning(finish, "level %d; this release knows level %d, whose event types are held back", level, events.Level)
	}
	return doctor.Good("level %d, the newest that this release knows", level)
}

func (x *examination) engineChecks() []doctor.Check {
	c := &x.config
	client, err := engines.New(engines.Config{URLs: c.EngineURLs, Token: c.EngineToken, Timeout: c.EngineTimeout})
	if err != nil {
		return []doctor.Check{{Component: "engines", Name: "addresses", Run: func(context.Context) doctor.Result {
			return doctor.Failure("correct NETSIM_ENGINE_URLS", "%v", err)
		}}}
	}
	var checks []doctor.Check
	for i, base := range client.URLs() {
		component := fmt.Sprintf("engine %d", i+1)
		checks = append(checks, doctor.Check{Component: component, Name: "reachable", Run: func(ctx context.Context) doctor.Result {
			about, err := client.Describe(ctx, base)
			if err != nil {
				return doctor.Failure("start the engine, or correct NETSIM_ENGINE_URLS and NETSIM_ENGINE_TOKEN", "%s: %v", base, err)
			}
			return doctor.Good("%s: %s %s", base, about.Engine, about.Version)
		}})
		checks = append(checks, x.endpoint(component, base).Certificate()...)
	}
	return checks
}

func (x *examination) registryChecks() []doctor.Check {
	c := &x.config
	registry := x.endpoint("schema registry", strings.TrimRight(c.SchemaRegistry, "/")+"/subjects")
	reachable := registry.Reachable(func(r *http.Request) {
		switch {
		case c.SchemaRegistryUser != "":
			r.SetBasicAuth(c.SchemaRegistryUser, c.SchemaRegistrySecret)
		case c.SchemaRegistrySecret != "":
			r.Header.Set("Authorization", "Bearer "+c.SchemaRegistrySecret)
		}
	})
	return append([]doctor.Check{reachable}, registry.Certificate()...)
}
