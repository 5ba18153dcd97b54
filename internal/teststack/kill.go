package teststack

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// killTree kills a process that is not our child, and its children, and returns
// when all have ended. It kills the children too because a PostgreSQL backend, which
// has its own process group, can outlive its postmaster for a moment and still
// answer.
func killTree(pid int) error {
	if err := KillChildren(pid); err != nil {
		return ignoreGone(err)
	}
	return killOther(pid)
}

// KillChildren stops a process that is not our child, kills its children, and returns when
// all have ended. The process stays stopped, so it starts no more.
func KillChildren(pid int) error {
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		return err
	}
	// The signal is handled a moment later. Until then the process may start a child.
	for stopped := false; !stopped; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return err
		}
		_, state, _ := strings.Cut(string(stat), ") ")
		stopped = strings.HasPrefix(state, "T") || strings.HasPrefix(state, "Z")
	}
	// The kernel may leave out children while others end (proc_tid_children(5)), so the list
	// is read until it has no more of them. Those that have ended stay in it.
	killed := map[int]bool{}
	for before := -1; before < len(killed); {
		before = len(killed)
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil {
			return err
		}
		for child := range strings.FieldsSeq(string(text)) {
			id, err := strconv.Atoi(child)
			if err != nil {
				return err
			}
			if err := killOther(id); err != nil {
				return err
			}
			killed[id] = true
		}
	}
	return nil
}

// killOther kills a process that is not our child and waits for its end.
func killOther(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return ignoreGone(err)
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		return ignoreGone(err)
	}
	// A pidfd becomes readable when its process has ended.
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
