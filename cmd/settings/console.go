package settings

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// ConsoleAccess has the settings of the console and of its logins.
type ConsoleAccess struct {
	ConsoleURL        string        `env:"NETSIM_CONSOLE_URL" form:"console" unset:"the API" roles:"api"`
	ConsoleClient     string        `env:"NETSIM_CONSOLE_CLIENT_ID" form:"name" unset:"none: no console is served" roles:"api"`
	ConsoleSecret     string        `env:"NETSIM_CONSOLE_CLIENT_SECRET" secret:"true" unset:"none: a public client" roles:"api"`
	ConsoleScopes     []string      `env:"NETSIM_CONSOLE_SCOPES" envDefault:"openid,profile,offline_access" form:"name" roles:"api"`
	ConsoleParameters string        `env:"NETSIM_CONSOLE_PARAMETERS" form:"pairs" roles:"api"`
	ConsoleDiscovery  string        `env:"NETSIM_CONSOLE_DISCOVERY_URL" form:"url" unset:"below NETSIM_OIDC_ISSUER" roles:"api"`
	ConsoleLife       time.Duration `env:"NETSIM_CONSOLE_SESSION_LIFE" envDefault:"168h" min:"1m" max:"8760h" roles:"api"`
	ConsoleIdle       time.Duration `env:"NETSIM_CONSOLE_SESSION_IDLE" envDefault:"24h" min:"1s" max:"8760h" roles:"api"`
	ConsoleSessions   int           `env:"NETSIM_CONSOLE_SESSIONS" envDefault:"20" min:"1" max:"1000" unit:"sessions" roles:"api"`
}

// ServesConsole reports whether the API's listener serves the console.
func (c *Config) ServesConsole() bool { return c.Has(RoleAPI) && c.ConsoleClient != "" }

// Dashboards returns the URL below which the pages of simulations are, "" without a console.
// A console that others serve has the URL of the setting.
func (c *Config) Dashboards() string {
	if c.ServesConsole() {
		return c.ConsoleURL + "/console"
	}
	return c.ConsoleURL
}

// LoginParameters returns what a login sends to the issuer beside the standard parameters.
func (c *Config) LoginParameters() map[string]string {
	parameters, _ := readPairs(c.ConsoleParameters) //nolint:errcheck // the form was checked when it was read
	return parameters
}

// checkConsole refuses half a configuration of the console. Other roles than api do not read
// it.
func (c *Config) checkConsole() error {
	if !c.Has(RoleAPI) {
		return nil
	}
	if c.ConsoleClient == "" {
		for _, of := range [][2]string{
			{"NETSIM_CONSOLE_CLIENT_SECRET", c.ConsoleSecret}, {"NETSIM_CONSOLE_PARAMETERS", c.ConsoleParameters}, {"NETSIM_CONSOLE_DISCOVERY_URL", c.ConsoleDiscovery},
		} {
			if of[1] != "" {
				return fmt.Errorf("NETSIM_CONSOLE_CLIENT_ID is not set: with %s it must be the console's client at the issuer", of[0])
			}
		}
		return nil
	}
	at, err := url.Parse(c.ConsoleURL)
	switch {
	case c.ConsoleURL == "":
		return errors.New("NETSIM_CONSOLE_URL is not set: with NETSIM_CONSOLE_CLIENT_ID it must be the URL by which browsers reach this service, such as https://host or https://host/prefix")
	case err != nil || at.RawQuery != "" || at.Fragment != "" || at.User != nil || at.Path != "" && path.Clean(at.Path) != at.Path || at.EscapedPath() != at.Path:
		return fmt.Errorf("NETSIM_CONSOLE_URL is %q: with NETSIM_CONSOLE_CLIENT_ID it must have a plain path, no user, no query and no fragment", c.ConsoleURL)
	case !slices.Contains(c.ConsoleScopes, "openid"):
		return fmt.Errorf("NETSIM_CONSOLE_SCOPES is %q: it must contain openid", strings.Join(c.ConsoleScopes, ","))
	case c.WriterKeys == "":
		return errors.New("NETSIM_WRITER_KEYS is not set: with NETSIM_CONSOLE_CLIENT_ID it must be a key, because the key that seals the tokens of sessions derives from it")
	case c.ConsoleIdle > c.ConsoleLife:
		return fmt.Errorf("NETSIM_CONSOLE_SESSION_IDLE is %q: it must be at most NETSIM_CONSOLE_SESSION_LIFE, which is %q", c.ConsoleIdle, c.ConsoleLife)
	}
	return nil
}
