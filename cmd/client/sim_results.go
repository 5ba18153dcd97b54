package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"netsim/cmd/table"
	"netsim/sdk/go/api"
)

type simResults struct {
	options
	simulation
	Get []string `placeholder:"FILE" help:"Download this file; * downloads all. May be repeated."`
	To  string   `type:"path" default:"." placeholder:"DIR" help:"Where to write what is downloaded."`
}

// results are those of a simulation in one value.
type results struct {
	SimulationID string            `json:"simulationId"`
	Duration     string            `json:"duration"`
	Summary      api.ResultSummary `json:"summary"`
	Accuracy     api.Accuracy      `json:"accuracy"`
	Files        []api.ResultFile  `json:"files"`
	Written      []string          `json:"written,omitempty"` // paths on this machine
}

// Run shows results, and downloads files.
func (c simResults) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		found, err := s.GetResults(ctx, c.ID, &api.GetResultsParams{Limit: new(int64(1))})
		if err != nil {
			return answer{}, err
		}
		all := results{SimulationID: found.SimulationID, Duration: found.Duration, Summary: found.Summary, Accuracy: found.Accuracy, Files: []api.ResultFile{}}
		rows := [][]string{}
		for file, err := range s.AllResults(ctx, c.ID, api.GetResultsParams{}) {
			if err != nil {
				return answer{}, err
			}
			all.Files = append(all.Files, file)
			rows = append(rows, []string{file.Name, string(file.Type), file.Size})
		}
		for _, name := range c.wanted(all.Files) {
			path, err := s.download(ctx, c.ID, name, c.To)
			if err != nil {
				return answer{}, err
			}
			all.Written = append(all.Written, path)
		}
		return answer{all, func(w io.Writer) error {
			if len(all.Written) > 0 {
				_, err := fmt.Fprintln(w, strings.Join(all.Written, "\n"))
				return err
			}
			fmt.Fprintf(w, "simulated time %s, throughput %s, %d packets\n", all.Duration, all.Summary.Throughput, all.Summary.TotalPackets) //nolint:errcheck // the table's error is returned
			return table.Write(w, "there is no file", "FILE TYPE SIZE", rows)
		}}, nil
	})
}

func (c simResults) wanted(files []api.ResultFile) (names []string) {
	for _, name := range c.Get {
		if name != "*" {
			names = append(names, name)
			continue
		}
		for _, file := range files {
			names = append(names, file.Name)
		}
	}
	return names
}

// download writes a result file below a directory, once its checksum is known to be right.
func (s *session) download(ctx context.Context, id, name, to string) (string, error) {
	path := filepath.Join(to, filepath.FromSlash(name))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("the file %q is outside of %s", name, to)
	}
	file, err := s.Download(ctx, id, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // results are no secret of this machine
		return "", err
	}
	part, err := os.Create(path + ".part")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(part, file)
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		_ = os.Remove(part.Name())
		return "", fmt.Errorf("download %s: %w", name, err)
	}
	return path, nil
}

// summary returns a result file in JSON.
func (s *session) summary(ctx context.Context, id string, into any) (json.RawMessage, error) {
	file, err := s.Download(ctx, id, "summary.json")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return text, json.Unmarshal(text, into)
}
