package main

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// child is a process that cannot outlive this one.
type child struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
	err   error         // how it ended; read after ended is closed
}

// spawn starts cmd in a process group of its own, so that a terminal's Ctrl-C
// reaches only this process. The kernel sends cmd the signal sig when this process
// dies, even by kill -9.
func spawn(cmd *exec.Cmd, sig syscall.Signal) (*child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = sig
	c := &child{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The signal is sent when the thread that started the process ends, so
		// that thread is kept until the process has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.ended)
		}
	}()
	return c, <-started
}

// stop sends sig and waits. A child that has not ended after the grace period is
// killed, which is an error.
func (c *child) stop(sig syscall.Signal, grace time.Duration) error {
	c.cmd.Process.Signal(sig)
	select {
	case <-c.ended:
		return nil
	case <-time.After(grace):
		c.cmd.Process.Kill()
		<-c.ended
		return fmt.Errorf("%s did not end in %v and was killed", c.cmd.Path, grace)
	}
}

// wait returns a channel that receives an error when the child has ended.
func (c *child) wait() <-chan error {
	ch := make(chan error, 1)
	go func() {
		<-c.ended
		if c.err == nil {
			ch <- errors.New("exit status 0")
			return
		}
		ch <- c.err
	}()
	return ch
}
