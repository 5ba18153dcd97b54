package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"netsim/prove/history"
)

// fact is a fact of the log.
type fact struct {
	Type     string          `json:"type"`
	Subject  string          `json:"subject"`
	Sequence string          `json:"sequence"`
	Data     json.RawMessage `json:"data"`
}

// facts are all facts, by stream and in order.
type facts map[string][]fact

// readFacts exports the facts of the log and reads them.
func (c *campaign) readFacts(ctx context.Context) (facts, error) {
	dir := filepath.Join(c.dir, "facts")
	if out, err := c.repeat(ctx, "events", "export", "--format", "ndjson", "--to", dir); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	all := facts{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, ".ndjson") {
			return err
		}
		return all.read(path)
	})
	for id, stream := range all {
		slices.SortFunc(stream, func(a, b fact) int { return a.number() - b.number() })
		for i, f := range stream {
			if f.number() != i+1 {
				c.violate("%s: the fact number %d has the sequence %s", id, i+1, f.Sequence)
				break
			}
		}
	}
	return all, err
}

func (f fact) number() int {
	n, _ := strconv.Atoi(f.Sequence)
	return n
}

func (all facts) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var f fact
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		all[f.Subject] = append(all[f.Subject], f)
	}
	return lines.Err()
}

func (all facts) count() (n int) {
	for _, stream := range all {
		n += len(stream)
	}
	return n
}

// registers returns the names that each stream of a register had.
func (all facts) registers() map[string]history.Stream {
	found := map[string]history.Stream{}
	for id, stream := range all {
		if !strings.HasPrefix(id, "workspace_") && !strings.HasPrefix(id, "config_") {
			continue
		}
		var s history.Stream
		for _, f := range stream {
			var data struct{ Name *string }
			switch {
			case strings.Contains(f.Type, ".deleted.") || strings.Contains(f.Type, ".deletionrequested."):
				s.Deleted = true
			case json.Unmarshal(f.Data, &data) == nil && data.Name != nil && (len(s.Names) == 0 || s.Names[len(s.Names)-1] != *data.Name):
				s.Names = append(s.Names, *data.Name)
			}
		}
		found[id] = s
	}
	return found
}
