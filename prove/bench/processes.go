package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTick is the kernel's unit of CPU time (USER_HZ).
const clockTick = 10 * time.Millisecond

// cpuOf returns the CPU time that a process and its descendants have used, including
// those that have ended. It reads the parent of every process, because the kernel's
// lists of children are incomplete while children end.
func cpuOf(pid int) time.Duration {
	used, children := map[int]time.Duration{}, map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") //nolint:errcheck // the pattern is right
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended meanwhile
		}
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) //nolint:errcheck // the pattern is that of a number
		// The name, in parentheses, may contain anything. The second field behind it is
		// the parent, the 12th to 15th are utime, stime, cutime and cstime.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1]) //nolint:errcheck // the kernel writes numbers
		children[parent] = append(children[parent], id)
		for _, field := range fields[11:15] {
			ticks, _ := strconv.ParseInt(field, 10, 64) //nolint:errcheck // the kernel writes numbers
			used[id] += time.Duration(ticks) * clockTick
		}
	}
	return cpuOfTree(pid, used, children)
}

func cpuOfTree(pid int, used map[int]time.Duration, children map[int][]int) time.Duration {
	sum := used[pid]
	for _, child := range children[pid] {
		sum += cpuOfTree(child, used, children)
	}
	return sum
}

// used returns the CPU time of the process so far, or in total if it has ended. The
// time is 0 before the process starts.
func (p *process) used() time.Duration {
	if ended := p.cmd.ProcessState; ended != nil {
		return ended.UserTime() + ended.SystemTime()
	}
	if p.cmd.Process == nil {
		return 0
	}
	return cpuOf(p.cmd.Process.Pid)
}

// memoryOf returns one of the sizes in a process's status, such as VmRSS, in
// MB of 10^6 bytes.
func memoryOf(pid int, name string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return float64(kib) * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("process %d has no %s", pid, name)
}

// cpu returns the CPU time so far of the service, the clients, the broker and
// PostgreSQL.
func (s *stack) cpu(serving ...*process) map[string]time.Duration {
	used := map[string]time.Duration{
		"clients": cpuSelf(), "broker": cpuOf(s.parts["broker"].PID), "postgres": cpuOf(s.parts["postgres"].PID),
	}
	for _, p := range serving {
		used["service"] += p.used()
	}
	return used
}

// since returns the CPU time per operation of each process, in µs.
func (s *stack) since(before map[string]time.Duration, operations int, serving ...*process) map[string]float64 {
	costs := map[string]float64{}
	for name, used := range s.cpu(serving...) {
		costs[name] = float64((used - before[name]).Microseconds()) / float64(max(operations, 1))
	}
	return costs
}

// cpuSelf returns the CPU time of this process without its children, which are
// measured by name.
func cpuSelf() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// under runs a load and returns the CPU time per operation of each process. It begins
// when the service is idle and ends when the service is idle again, so the costs
// include the work that the operations cause later. With -profile it profiles the CPU
// of the first service during the load.
func (b *bench) under(ctx context.Context, s *stack, serving services, name string, p plan, clients []client) (sample, map[string]float64, error) {
	drain, ops := s.drain, serving[0].ops
	if ops == "" { // the process is not the service
		drain = func(context.Context) (time.Duration, error) { return 0, nil }
	}
	if _, err := drain(ctx); err != nil {
		return sample{}, nil, fmt.Errorf("before %s: %w", name, err)
	}
	profiled := make(chan error, 1)
	go func() { profiled <- b.profile(ctx, ops, name, p.warm+p.run) }()
	before := s.cpu(serving.processes()...)
	got, err := load(ctx, p, clients)
	if err != nil {
		return got, nil, errors.Join(err, serving[0].complaint())
	}
	if got.Drained, err = drain(ctx); err != nil {
		return got, nil, fmt.Errorf("after %s: %w", name, err)
	}
	return got, s.since(before, got.Total, serving.processes()...), <-profiled
}

// nonWords matches characters that a file name should not have.
var nonWords = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// profile writes profiles of the service into the directory of profiles, if there is
// one: of its CPU time for the duration, and of its heap at the end of it.
func (b *bench) profile(ctx context.Context, ops, name string, d time.Duration) error {
	if b.profiles == "" || ops == "" || d < time.Second {
		return nil
	}
	if err := os.MkdirAll(b.profiles, 0o755); err != nil {
		return err
	}
	path := filepath.Join(b.profiles, nonWords.ReplaceAllString(name, "-"))
	cpu := download(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", ops, int(d.Seconds())), path+".pprof")
	return errors.Join(cpu, download(ctx, fmt.Sprintf("http://%s/debug/pprof/heap", ops), path+"-heap.pprof"))
}

// download writes what is served at the URL into a file.
func download(ctx context.Context, url, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read completely
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, resp.Body)
	return errors.Join(err, file.Close())
}
