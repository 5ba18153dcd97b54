package operate

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// PsqlEnvironment returns how psql and pg_dump connect to a database, as variables of their
// environment. Arguments would show the password to every user of the machine.
func PsqlEnvironment(postgres string) ([]string, error) {
	c, err := pgx.ParseConfig(postgres)
	if err != nil {
		return nil, err
	}
	hosts, ports := []string{c.Host}, []string{strconv.Itoa(int(c.Port))}
	for _, f := range c.Fallbacks { // further hosts, and each again without TLS
		port := strconv.Itoa(int(f.Port))
		if f.Host != hosts[len(hosts)-1] || port != ports[len(ports)-1] {
			hosts, ports = append(hosts, f.Host), append(ports, port)
		}
	}
	all := []string{
		"PGHOST=" + strings.Join(hosts, ","), "PGPORT=" + strings.Join(ports, ","),
		"PGDATABASE=" + c.Database, "PGUSER=" + c.User, "PGPASSWORD=" + c.Password,
	}
	for _, p := range parameters(postgres) {
		if variable, is := psqlVariables[p[0]]; is {
			all = append(all, variable+"="+p[1])
		} else if !slices.Contains(inConfig, p[0]) {
			return nil, fmt.Errorf("the parameter %s of NETSIM_POSTGRES is not one of psql", p[0])
		}
	}
	return all, nil
}

// psqlVariables has the variable for each parameter of a connection string.
var psqlVariables = map[string]string{
	"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY", "sslsni": "PGSSLSNI",
	"passfile": "PGPASSFILE", "service": "PGSERVICE", "servicefile": "PGSERVICEFILE", "connect_timeout": "PGCONNECT_TIMEOUT",
	"target_session_attrs": "PGTARGETSESSIONATTRS", "options": "PGOPTIONS", "application_name": "PGAPPNAME",
	"channel_binding": "PGCHANNELBINDING", "krbsrvname": "PGKRBSRVNAME",
}

// inConfig are the parameters that are read already.
var inConfig = []string{"host", "port", "dbname", "database", "user", "password"}

var parameter = regexp.MustCompile(`(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s'](?:[^\s\\]|\\.)*|)`)

// parameters returns the names and values in a connection string, of which PostgreSQL takes
// a URL or a list of name=value.
func parameters(postgres string) (all [][2]string) {
	if strings.HasPrefix(postgres, "postgres://") || strings.HasPrefix(postgres, "postgresql://") {
		u, err := url.Parse(postgres)
		if err != nil {
			return nil // pgx has read it
		}
		for name, values := range u.Query() {
			all = append(all, [2]string{name, values[0]})
		}
		return all
	}
	for _, found := range parameter.FindAllStringSubmatch(postgres, -1) {
		value := found[2]
		if strings.HasPrefix(value, "'") {
			value = strings.Trim(value, "'")
		}
		all = append(all, [2]string{found[1], regexp.MustCompile(`\\(.)`).ReplaceAllString(value, "$1")})
	}
	return all
}
