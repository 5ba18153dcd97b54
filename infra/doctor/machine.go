package doctor

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// Machine is where this process runs.
type Machine struct {
	Files     int64  // file descriptors that the process may need
	Memory    int64  // bytes that its settings allow it to use at most
	Temporary int64  // bytes of temporary files that it may need
	Secrets   []File // files with secrets
}

// File is a file with a secret, and the variable that names it.
type File struct{ Variable, Path string }

const machineComponent = "machine"

// Checks returns the checks of the machine.
func (m Machine) Checks() []Check {
	return []Check{
		{machineComponent, "file descriptors", false, m.files},
		{machineComponent, "memory", false, m.memory},
		{machineComponent, "temporary files", false, m.temporary},
		{machineComponent, "secret files", false, m.secrets},
	}
}

func (m Machine) files(context.Context) Result {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return Warning("find out why", "the limit cannot be read: %v", err)
	}
	most := int64(min(limit.Max, math.MaxInt64)) //nolint:gosec // bounded
	if most < m.Files {
		return Warning("raise it (LimitNOFILE, ulimit -n), or lower NETSIM_MAX_STREAMS and NETSIM_MAX_READS", "the limit is %d; this process may need %d", most, m.Files)
	}
	return Good("the limit is %d; this process may need %d", most, m.Files)
}

// memory compares what the settings allow with what the machine or its control group has.
func (m Machine) memory(context.Context) Result {
	limit := debug.SetMemoryLimit(-1)
	set := "GOMEMLIMIT is not set"
	if limit != math.MaxInt64 {
		set = "GOMEMLIMIT is " + bytesText(limit)
	}
	have := memoryLimit()
	switch {
	case have == 0:
		return Good("%s; its settings allow %s", set, bytesText(m.Memory))
	case limit != math.MaxInt64 && limit > have:
		return Warning("set GOMEMLIMIT to some 90 % of the memory", "%s, and there are %s", set, bytesText(have))
	case m.Memory > have:
		return Warning("lower NETSIM_WORKERS, NETSIM_RUN_FLOWS, NETSIM_RUN_TRACE_BYTES or NETSIM_BODY_MEMORY, or give the process more memory",
			"the settings allow %s, and there are %s; %s", bytesText(m.Memory), bytesText(have), set)
	}
	return Good("the settings allow %s, and there are %s; %s", bytesText(m.Memory), bytesText(have), set)
}

// memoryLimit returns the memory of the control group or the machine in bytes, or 0 if it
// is not known.
func memoryLimit() int64 {
	total := int64(0)
	text, err := os.ReadFile("/proc/meminfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if rest, is := strings.CutPrefix(line, "MemTotal:"); is {
				_, _ = fmt.Sscan(rest, &total) //nolint:errcheck // 0 means not known
				total <<= 10
			}
		}
	}
	text, err = os.ReadFile("/sys/fs/cgroup/memory.max")
	if group, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil && (total == 0 || group < total) {
		total = group
	}
	return total
}

func (m Machine) temporary(context.Context) Result {
	dir := os.TempDir()
	file, err := os.CreateTemp(dir, "netsim-doctor-")
	if err != nil {
		return Failure("set TMPDIR to a directory that this process may write", "%v", err)
	}
	file.Close()           //nolint:errcheck // nothing was written
	os.Remove(file.Name()) //nolint:errcheck // the file is empty
	room, err := Room(dir)
	if err != nil {
		return Warning("find out why", "the room in %s cannot be read: %v", dir, err)
	}
	if room < m.Temporary {
		return Warning("make room, or set TMPDIR to another disk", "%s has %s left; this process may need %s", dir, bytesText(room), bytesText(m.Temporary))
	}
	return Good("%s has %s left", dir, bytesText(room))
}

// Room returns the bytes that the disk with the directory has left.
func Room(dir string) (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * disk.Bsize, nil //nolint:gosec,unconvert // the types differ by system
}

// secrets checks that other users cannot read the files with secrets.
func (m Machine) secrets(context.Context) Result {
	var open []string
	for _, f := range m.Secrets {
		info, err := os.Stat(f.Path)
		if err != nil {
			return Failure("correct the path", "%s: %v", f.Variable, err)
		}
		if info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0 {
			open = append(open, fmt.Sprintf("%s (mode %04o)", f.Variable, info.Mode().Perm()))
		}
	}
	switch {
	case len(open) > 0:
		return Warning("chmod o-r; in Kubernetes set defaultMode: 0400", "every user may read the files of %s", strings.Join(open, ", "))
	case len(m.Secrets) == 0:
		return Good("no secret comes from a file")
	}
	return Good("%d files, which other users cannot read", len(m.Secrets))
}

// bytesText formats a number of bytes, such as 1.5 GiB.
func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", value, units[unit])
}

// isLoopback reports whether a host, or host:port, is this machine.
func isLoopback(at string) bool {
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		host = at
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// oneLine returns the text of an error in one line.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}
