package settings

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// addUnknown looks for variables that look like settings, but are none. One whose name
// differs from that of a setting in one or two letters is wrong: the operator believes
// that it is set. So is a trace variable of the OpenTelemetry specification that netsim
// does not support. The names of all others are returned: a deployment may set variables
// of a later release before it rolls that out.
func addUnknown(environment map[string]string, wrong *wrongSettings) (ignored []string) {
	var known []string
	for _, s := range All() {
		known = append(known, s.Variable)
		if s.Secret {
			known = append(known, s.Variable+FileSuffix)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if environment[name] == "" || slices.Contains(known, name) {
			continue
		}
		switch nearest := nearestName(name, known); {
		case ofTraces(name):
			wrong.add(fmt.Errorf("%s is set: netsim does not honour it (docs/tracing.md)", name), name)
		case !strings.HasPrefix(name, "NETSIM_") || ofOthers.MatchString(name):
		case slices.Contains(known, strings.TrimSuffix(name, FileSuffix)):
			wrong.add(fmt.Errorf("%s is set: only secrets can be in files, so it must be %s", name, strings.TrimSuffix(name, FileSuffix)), name)
		case nearest != "":
			wrong.add(fmt.Errorf("%s is set: there is no such setting; it must be %s", name, nearest), name)
		default:
			ignored = append(ignored, name)
		}
	}
	return ignored
}

// Announce logs what an operator may not expect of the settings.
func (c *Config) Announce(ctx context.Context, log *slog.Logger) {
	if c.Development {
		log.WarnContext(ctx, "development mode: events can be lost or forged; never use it with data that matters", "setting", "NETSIM_DATA_DEV")
	}
	for _, plain := range c.plainConnections() {
		log.WarnContext(ctx, "a connection to another machine is not protected (docs/security.md)", "setting", plain.setting, "because", plain.because)
	}
	if c.Has(RoleAPI) && !c.ServesConsole() {
		log.InfoContext(ctx, "no console is served: it has no client at the issuer of tokens (docs/console.md)", "setting", "NETSIM_CONSOLE_CLIENT_ID")
	}
	if len(c.ignored) > 0 {
		log.WarnContext(ctx, "variables that begin with NETSIM_ and are not settings of this release are ignored", "variables", c.ignored)
	}
}

// ofOthers matches the variables of netsim-dev, of the command token and of tests, and
// those that Kubernetes adds for each service: for one named netsim, NETSIM_SERVICE_HOST
// and NETSIM_PORT_8080_TCP, for example.
var ofOthers = regexp.MustCompile(`^NETSIM_(BIN|DATA|DEV_\w+|TEST_\w+|COMMAND_TEST|CONTRACT_SEEN|SCRAPES)$` +
	`|_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT$|_PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?$`)

// nearestName returns the known name that is at most two edits from name, or "".
func nearestName(name string, known []string) string {
	nearest, least := "", 3
	for _, k := range known {
		if d := editDistance(name, k); d < least {
			nearest, least = k, d
		}
	}
	return nearest
}

// editDistance returns how many letters must be inserted, deleted, replaced, or swapped
// with their neighbour, to make b from a.
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
