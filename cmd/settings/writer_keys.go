package settings

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"netsim/events"
)

// ErrNoWriterKeys is the error when a production installation has no writer keys.
var ErrNoWriterKeys = errors.New("NETSIM_WRITER_KEYS is not set: it must be a secret key of 64 hex digits, such as openssl rand -hex 32 prints, so that no other client of the event log can write to it, unless NETSIM_DATA_DEV is true")

// ReadWriterKeys returns the writer keys. They may be missing only in development.
func (c *Config) ReadWriterKeys() (*events.WriterKeys, error) {
	keys, err := ParseWriterKeys(c.WriterKeys)
	if err == nil && keys == nil && !c.Development {
		err = ErrNoWriterKeys
	}
	return keys, err
}

// ParseWriterKeys parses the writer keys in a setting. It returns nil when there are none.
func ParseWriterKeys(setting string) (*events.WriterKeys, error) {
	keys, err := events.ParseWriterKeys(SplitWriterKeys(setting)...)
	if err != nil {
		return nil, fmt.Errorf("NETSIM_WRITER_KEYS: %w", err)
	}
	return keys, nil
}

// SplitWriterKeys splits a list of keys at commas and white space.
func SplitWriterKeys(setting string) []string {
	return strings.FieldsFunc(setting, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}
