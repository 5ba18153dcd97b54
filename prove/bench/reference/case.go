package reference

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"netsim/runs/execution"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/presets"
)

// Case is a run in the terms of a client of the service: a configuration, and a
// simple workload or traces. The engine gets no other input.
type Case struct {
	Network
	Groups []collective.GroupSpec
	// Messages become traces and replace Groups. All ranks send their messages at
	// once.
	Messages []Message
}

// Message is a transfer from one rank to another.
type Message struct {
	From, To int
	Bytes    int64
}

// OneGroup returns a case with one group that runs the phases on all hosts.
func OneGroup(n Network, phases ...collective.Phase) (Case, error) {
	groups, err := collective.Resolve(nil, []collective.GroupSpec{{Count: 1, GroupSize: n.hosts(), Phases: phases}}, true)
	return Case{Network: n, Groups: groups}, err
}

// Input returns the engine's input for the case, prepared as the service prepares it.
// It returns the errors of execution.Prepare.
func (c *Case) Input(ctx context.Context) (engine.Input, error) {
	doc, err := c.Document()
	if err != nil {
		return engine.Input{}, err
	}
	text, err := document.Canonical(doc)
	if err != nil {
		return engine.Input{}, err
	}
	files, traceset := memoryFiles{}, &execution.Traceset{ID: "traceset", Format: presets.Format, Layout: "cas"}
	if err := c.write(files, traceset); err != nil {
		return engine.Input{}, err
	}
	in, err := execution.Prepare(ctx, &execution.Order{
		ConfigurationID: "configuration", Document: text, DocumentHash: execution.Hash(text),
		DurationNs: int64(24 * time.Hour), Seed: c.Seed, Traceset: traceset,
	}, files)
	if err == nil {
		err = in.Read(ctx)
	}
	if err != nil {
		return engine.Input{}, err
	}
	return in.Input(), nil
}

// write adds the files of the workload to the traceset.
func (c *Case) write(files memoryFiles, t *execution.Traceset) error {
	if c.Messages == nil {
		content, err := presets.WorkloadContent(c.Groups)
		files.add(t, presets.WorkloadFile, content)
		return err
	}
	t.Format, t.RankCount = "chakra_json_v1", int64(c.hosts())
	ranks := make([]strings.Builder, c.hosts())
	for i := range ranks {
		ranks[i].WriteString(`{"version":"0.0.4"}`)
	}
	node := func(rank, id int, kind, peer string, other int, bytes int64) {
		fmt.Fprintf(&ranks[rank], `{"id":"%d","type":"%s","attr":[{"name":"%s","int64Val":"%d"},{"name":"comm_size","int64Val":"%d"}]}`,
			id, kind, peer, other, bytes)
	}
	for id, m := range c.Messages {
		node(m.From, id, "COMM_SEND_NODE", "comm_dst", m.To, m.Bytes)
		node(m.To, len(c.Messages)+id, "COMM_RECV_NODE", "comm_src", m.From, m.Bytes)
	}
	for i := range ranks {
		files.add(t, fmt.Sprintf("rank_%d.chakra.json", i), ranks[i].String())
	}
	return nil
}

// memoryFiles maps file names to contents. It implements execution.Files.
type memoryFiles map[string]string

func (h memoryFiles) add(t *execution.Traceset, name, content string) {
	h[name] = content
	t.Files = append(t.Files, execution.File{Name: name, Role: "primary", Hash: execution.Hash(content), Size: int64(len(content))})
}

// Open implements execution.Files.
func (h memoryFiles) Open(_ context.Context, f execution.File) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader([]byte(h[f.Name]))), nil
}

// Unpacked implements execution.Files. The files are never packed.
func (h memoryFiles) Unpacked(_ context.Context, t *execution.Traceset) ([]execution.File, error) {
	return t.Files, nil
}
