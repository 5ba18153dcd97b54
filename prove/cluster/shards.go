package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// Shards returns how many shards the process says that it holds, by what it reads them
// for. A process logs each change.
func (n *Netsim) Shards() (map[string]int, error) {
	held := map[string]int{}
	file, err := os.Open(n.process.log)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if _, err := file.Seek(n.logFrom, io.SeekStart); err != nil {
		return nil, err
	}
	for in := bufio.NewReader(file); ; {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return held, nil
		}
		if err != nil {
			return nil, err
		}
		var entry struct {
			Msg, Subscriber string
			Shards          int
		}
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "the shards of this process have changed" {
			held[entry.Subscriber] = entry.Shards
		}
	}
}

// logSize returns the size of a log, from which a process that starts appends to it.
func logSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
