package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// part is a server that netsim-dev runs: the object store or the token issuer.
type part struct {
	endpoint

	name, binary, data string
	args               []string
	process            *child
}

// endpoint is the JSON object that netsim-dev prints for a server when it is ready.
type endpoint struct {
	Addr, URL, Region, AccessKey, SecretKey, JWKSURL, Issuer, Audience string
}

// start runs the server and waits until it is ready.
func (p *part) start() error {
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close() //nolint:errcheck // one line is read
	args := append([]string{"part", p.name, "--data", p.data}, p.args...)
	cmd := exec.Command("/bin/sh", append([]string{"-c", `exec "$0" "$@" >&3`, p.binary}, args...)...)
	cmd.ExtraFiles = []*os.File{write}
	// It ends when its standard input ends, so it gets a pipe that stays open.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	_ = stdin // closed by the end of this process, or of the child
	p.process, err = spawn(p.name, filepath.Join(p.data, p.name+".log"), cmd)
	if err := firstOf(err, write.Close()); err != nil {
		return err
	}
	if err := read.SetReadDeadline(time.Now().Add(slowest)); err != nil {
		return err
	}
	line, err := bufio.NewReader(read).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s did not start: %w", p.name, p.process.lastLines())
	}
	ready := map[string]endpoint{}
	if err := json.Unmarshal(line, &ready); err != nil {
		return err
	}
	p.endpoint = ready[p.name]
	p.args = []string{"--listen", p.Addr}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *part) stop() error { return p.process.end(syscall.SIGTERM, 10*time.Second) }
