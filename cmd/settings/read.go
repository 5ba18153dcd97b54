package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/jackc/pgx/v5"

	"netsim/infra/telemetry"
)

// read reads the fields of a T from the environment. A field has the tags that the
// field of Config with the same variable has; only whether it is required is its own.
//
// Every wrong setting is in the result, with the variable, its value and what would be
// right.
func read[T any](environment map[string]string) (c T, bad wrongSettings) {
	environment = maps.Clone(environment)
	fields := settingFields[T]()
	descriptions := described(fields)
	for _, of := range descriptions {
		name := variable(of)
		if isSecret(of) {
			bad.add(fromFile(environment, name), name)
		}
		if text := of.Tag.Get("envDefault"); environment[name] == "" && text != "" {
			environment[name] = text
		}
	}
	parsed := env.ParseWithOptions(&c, env.Options{Environment: environment})
	var all env.AggregateError
	if parsed != nil && !errors.As(parsed, &all) {
		bad.add(parsed)
	}
	for i, f := range fields {
		name, of := variable(f), descriptions[i]
		value, want := environment[name], wanted(of)
		misread := slices.ContainsFunc(all.Errors, func(err error) bool {
			var field env.ParseError
			return errors.As(err, &field) && field.Name == f.Name
		})
		switch {
		case bad.has(name): // its file is wrong
		case value == "" && isRequired(f):
			bad.add(fmt.Errorf("%s is not set: it must be %s", name, want), name)
		case misread || !fits(of, reflect.ValueOf(c).FieldByIndex(f.Index)):
			if isSecret(of) {
				value = "(not shown)"
			}
			bad.add(fmt.Errorf("%s is %q: it must be %s", name, value, want), name)
		}
	}
	if len(bad.errs) == 0 {
		bad.add(errors.Join(all.Errors...)) // the errors do not belong to a setting
	}
	return c, bad
}

// wrongSettings collects the errors of all settings, a sentence each.
type wrongSettings struct {
	errs      []error
	variables []string // that are wrong by themselves
}

// add adds an error about variables, unless it is nil.
func (w *wrongSettings) add(err error, variables ...string) {
	if err != nil {
		w.errs, w.variables = append(w.errs, err), append(w.variables, variables...)
	}
}

// has reports whether one of the variables is wrong by itself.
func (w *wrongSettings) has(variables ...string) bool {
	return slices.ContainsFunc(variables, func(name string) bool { return slices.Contains(w.variables, name) })
}

// err returns all errors as one, or nil.
func (w *wrongSettings) err() error {
	if err := errors.Join(w.errs...); err != nil {
		return fmt.Errorf("the settings are wrong:\n%w", err)
	}
	return nil
}

// Sentences returns the lines of an error of wrong settings, one for each of them.
func Sentences(err error) []string {
	lines := strings.Split(err.Error(), "\n")
	return lines[min(1, len(lines)-1):]
}

// settingFields returns the fields of a T that are settings.
func settingFields[T any]() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[T]()), func(f reflect.StructField) bool { return variable(f) == "" })
}

// described returns, for each of the fields, the field of Config that has the same
// variable, or the field itself.
func described(fields []reflect.StructField) []reflect.StructField {
	byVariable := map[string]reflect.StructField{}
	for _, f := range settingFields[Config]() {
		byVariable[variable(f)] = f
	}
	described := slices.Clone(fields)
	for i, f := range fields {
		if of, found := byVariable[variable(f)]; found {
			described[i] = of
		}
	}
	return described
}

func isSecret(f reflect.StructField) bool { return f.Tag.Get("secret") != "" }

func isRequired(f reflect.StructField) bool {
	return slices.Contains(strings.Split(f.Tag.Get("env"), ","), "required")
}

// surroundings returns the environment of the process.
func surroundings() map[string]string { return env.ToMap(os.Environ()) }

func variable(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
	return name
}

// Redact replaces in a text the secrets of the settings and all that looks like a
// credential.
func (c *Config) Redact(text string) string {
	var secrets []string
	for _, f := range settingFields[Config]() {
		if isSecret(f) {
			secrets = append(secrets, strings.Split(reflect.ValueOf(*c).FieldByIndex(f.Index).String(), ",")...)
		}
	}
	for _, url := range append(strings.Fields(c.Standbys), c.Postgres) {
		secrets = append(secrets, url)
		if postgres, err := pgx.ParseConfig(url); err == nil {
			secrets = append(secrets, postgres.Password)
		}
	}
	return telemetry.Redact(text, secrets...)
}
