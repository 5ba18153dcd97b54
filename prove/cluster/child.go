package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is a process that cannot outlive this one. Its output is appended to a file.
type child struct {
	name  string
	log   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended

	mu     sync.Mutex
	paused bool
}

// spawn starts cmd in a process group of its own. The kernel kills it when this
// process dies, however it dies.
func spawn(name, log string, cmd *exec.Cmd) (*child, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // nothing is written here
	cmd.Stdout, cmd.Stderr = out, out
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	c := &child{name: name, log: log, cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the signal when the thread that started the process ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
			close(c.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

// running reports whether the process has not ended.
func (c *child) running() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// kill ends the process and its children with SIGKILL and returns when they have ended.
// PostgreSQL's backends have process groups of their own.
func (c *child) kill() {
	if !c.running() {
		return
	}
	pid := c.cmd.Process.Pid
	_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it starts no more children
	var children []int
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for field := range strings.FieldsSeq(string(text)) {
		if id, err := strconv.Atoi(field); err == nil {
			children = append(children, id)
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	<-c.ended
	for _, id := range children {
		for range 1000 {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
			if err != nil || strings.Contains(string(stat), ") Z ") {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
}

// end asks the process to end with a signal, and kills it after the grace period.
func (c *child) end(signal syscall.Signal, grace time.Duration) error {
	if !c.running() {
		return nil
	}
	c.resume()
	_ = c.cmd.Process.Signal(signal)
	select {
	case <-c.ended:
		return nil
	case <-time.After(grace):
		c.kill()
		return fmt.Errorf("%s did not end within %v of %v and was killed", c.name, grace, signal)
	}
}

// pause suspends the process, but not its children.
func (c *child) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running() && c.cmd.Process.Signal(syscall.SIGSTOP) == nil {
		c.paused = true
	}
}

func (c *child) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		_ = c.cmd.Process.Signal(syscall.SIGCONT)
		c.paused = false
	}
}

// lastLines returns the end of the process's log.
func (c *child) lastLines() error {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err
	}
	return errors.New(strings.TrimSpace(string(text[max(0, len(text)-8000):])))
}
