// Package testduckdb gives tests stock DuckDB with its extensions for DuckLake,
// PostgreSQL and S3. .ci/duckdb/install installs it at the first use. What cannot be
// installed fails the test; no test is skipped.
package testduckdb

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

//go:embed session.py
var program string

// python returns the path of the Python that has DuckDB.
var python = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !exists(filepath.Join(dir, ".ci", "duckdb", "install")) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no directory above the test has .ci/duckdb/install")
		}
		dir = parent
	}
	out, err := exec.Command(filepath.Join(dir, ".ci", "duckdb", "install")).Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("install DuckDB on %s: %s", runtime.GOOS, failed.Stderr)
		}
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
})

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Session is a connection of a DuckDB that lives in a process of its own. It is for one
// goroutine at a time.
type Session struct {
	in  io.Writer
	out *bufio.Reader
}

// Open starts DuckDB. It ends with the test.
func Open(t testing.TB) *Session {
	t.Helper()
	path, err := python()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-c", program)
	var log strings.Builder
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close() //nolint:errcheck // ends the process
		if err := cmd.Wait(); err != nil {
			t.Errorf("DuckDB ended with %v: %s", err, &log)
		}
	})
	return &Session{in, bufio.NewReader(out)}
}

// Try runs a statement. Its rows have the values as texts; NULL is "".
func (s *Session) Try(sql string) ([][]string, error) {
	line, err := json.Marshal(sql)
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	text, err := s.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("DuckDB gives no answer: %w", err)
	}
	var answer struct {
		Rows  [][]string
		Error string
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("DuckDB: %s, in %s", answer.Error, sql)
	}
	return answer.Rows, nil
}

// Query runs a statement that must succeed.
func (s *Session) Query(t testing.TB, sql string) [][]string {
	t.Helper()
	rows, err := s.Try(sql)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
