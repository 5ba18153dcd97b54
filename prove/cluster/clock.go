package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// findFaketime returns the path of libfaketime, or "" if it is not installed: it is
// $FAKETIME_LIB, or where Debian's package puts it.
func findFaketime() string {
	if path := os.Getenv("FAKETIME_LIB"); path != "" {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// CanJump reports whether the server's clock can jump, which takes libfaketime.
func (p *Postgres) CanJump() bool { return p.faketime != "" }

// Jump makes the server's clock differ from the machine's by a duration, in whole
// seconds, from within the next second on. Its monotonic clock goes on.
func (p *Postgres) Jump(by time.Duration) error {
	fresh := p.clock() + ".new"
	if err := os.WriteFile(fresh, []byte(fmt.Sprintf("%+d\n", int(by.Seconds()))), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, p.clock())
}

func (p *Postgres) clock() string { return filepath.Join(p.dir, "clock") }

// clockSettings returns the environment in which the server's clock can jump.
func (p *Postgres) clockSettings() ([]string, error) {
	if p.faketime == "" {
		return nil, nil
	}
	if _, err := os.Stat(p.clock()); errors.Is(err, fs.ErrNotExist) {
		if err := p.Jump(0); err != nil {
			return nil, err
		}
	}
	return []string{
		"LD_PRELOAD=" + p.faketime, "FAKETIME_TIMESTAMP_FILE=" + p.clock(), "FAKETIME_CACHE_DURATION=1",
		"DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
	}, nil
}
