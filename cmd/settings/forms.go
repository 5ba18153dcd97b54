package settings

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/telemetry"
	"netsim/stream/webhooks"
)

// form is the required format of a setting.
type form struct {
	want string
	fits func(text string) bool
}

func forms() map[string]form {
	oneOf := func(values ...string) form {
		return form{"one of " + strings.Join(values, ", "), func(text string) bool { return slices.Contains(values, text) }}
	}
	return map[string]form{
		"":     {"a text", func(string) bool { return true }},
		"name": {"a text without spaces", func(text string) bool { return text != "" && !strings.ContainsAny(text, " \t\r\n") }},
		"address": {"host:port", func(text string) bool {
			_, port, err := net.SplitHostPort(text)
			n, notANumber := strconv.Atoi(port)
			return err == nil && notANumber == nil && n >= 0 && n <= 65535
		}},
		"url":     {"an absolute URL such as https://host/path", isURL},
		"console": {"an absolute URL without a slash at its end", func(text string) bool { return isURL(text) && !strings.HasSuffix(text, "/") }},
		"postgres": {"how to connect to PostgreSQL, such as postgres://user:password@host:5432/database", func(text string) bool {
			_, err := pgx.ParseConfig(text)
			return err == nil
		}},
		"standbys": {"addresses such as postgres://user:password@host:5432/database, separated by white space", func(text string) bool {
			for _, url := range strings.Fields(text) {
				if _, err := pgx.ParseConfig(url); err != nil {
					return false
				}
			}
			return true
		}},
		"file": {"the path of a file that can be read", func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && !info.IsDir()
		}},
		"writerKeys": {"keys of 64 hex digits each, none twice, separated by commas", func(text string) bool {
			_, err := events.ParseWriterKeys(SplitWriterKeys(text)...)
			return err == nil
		}},
		"webhookKeys": {"keys such as id:base64 with at least 32 bytes each, no id twice, separated by commas", func(text string) bool {
			_, err := webhooks.ParseKeys(text)
			return err == nil
		}},
		"network": {"a network such as 127.0.0.0/8", func(text string) bool {
			_, err := webhooks.ParseNetworks([]string{text})
			return err == nil
		}},
		"role":      oneOf(RoleAPI, RoleProjector, RoleReactor, RoleWorker, RolePublisher, RoleLake, RoleArchiver),
		"algorithm": oneOf("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"),
		"sasl":      oneOf(broker.Plain, broker.SCRAM256, broker.SCRAM512, broker.OAuthBearer),
		"logFormat": oneOf("json", "text"),
		"pairs": {"a list such as name=value,name2=value2, with other characters as in URLs", func(text string) bool {
			_, err := readPairs(text)
			return err == nil
		}},
		"otlp":        oneOf("otlp", "none"),
		"protocol":    oneOf("http/protobuf"),
		"compression": oneOf("gzip", "none"),
		"propagator":  oneOf("tracecontext"),
		"sampler":     oneOf(telemetry.Samplers()...),
		"ratio": {"a number from 0 to 1", func(text string) bool {
			n, err := strconv.ParseFloat(text, 64)
			return err == nil && n >= 0 && n <= 1
		}},
		"logLevel": {"one of DEBUG, INFO, WARN, ERROR", func(string) bool { return true }},
	}
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// bounds returns the bounds of a number, or of a duration in nanoseconds.
func bounds(f reflect.StructField) (least, most int64, duration bool) {
	duration = f.Type == reflect.TypeFor[time.Duration]()
	read := func(text string) int64 {
		if d, err := time.ParseDuration(text); duration && err == nil {
			return int64(d)
		}
		n, _ := strconv.ParseInt(text, 10, 64) //nolint:errcheck // a test reads every tag
		return n
	}
	return read(f.Tag.Get("min")), read(cmp.Or(f.Tag.Get("max"), strconv.FormatInt(1<<62, 10))), duration
}

func isNumber(f reflect.StructField) bool {
	return f.Type.Kind() == reflect.Int || f.Type.Kind() == reflect.Int32 || f.Type.Kind() == reflect.Int64
}

// wanted describes the allowed values of a setting, for an error.
func wanted(f reflect.StructField) string {
	shape := forms()[f.Tag.Get("form")].want
	switch {
	case f.Tag.Get("form") != "" && f.Type.Kind() == reflect.Slice:
		return "a list, separated by commas, each " + shape
	case f.Tag.Get("form") != "":
		return shape
	case f.Type.Kind() == reflect.Bool:
		return "true or false"
	case isNumber(f):
		least, _, duration := bounds(f)
		text, kind := strconv.FormatInt(least, 10), "a whole number"
		if duration {
			text, kind = time.Duration(least).String(), "a duration such as 90s or 10m"
		}
		if unit := f.Tag.Get("unit"); unit != "" {
			kind = "a whole number of " + unit
		}
		if most := f.Tag.Get("max"); most != "" {
			return fmt.Sprintf("%s from %s to %s", kind, text, most)
		}
		return fmt.Sprintf("%s of at least %s", kind, text)
	}
	return shape
}

// fits reports whether a parsed value is allowed. An optional setting may be
// empty.
func fits(f reflect.StructField, value reflect.Value) bool {
	shape := forms()[f.Tag.Get("form")].fits
	switch {
	case isNumber(f) && f.Tag.Get("form") == "":
		least, most, _ := bounds(f)
		return value.Int() >= least && value.Int() <= most
	case f.Type.Kind() == reflect.String:
		return value.Len() == 0 || shape(value.String())
	case f.Type.Kind() == reflect.Slice:
		for i := range value.Len() {
			if !shape(value.Index(i).String()) {
				return false
			}
		}
	}
	return true
}
