package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain runs the test binary as one of three programs: the tests, netsim-dev, or
// the service that netsim-dev runs.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		runFakeService()
	case len(os.Args) > 1 && os.Args[1] == "token":
		// netsim-dev runs this to make the issuer's key, which these tests do not need
	case os.Getenv("NETSIM_DEV_TEST") != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// runFakeService stands in for the service: it is ready at once, answers every
// request with its environment, and ends in order on SIGTERM.
func runFakeService() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		environment := map[string]string{}
		for _, entry := range os.Environ() {
			name, value, _ := strings.Cut(entry, "=")
			environment[name] = value
		}
		json.NewEncoder(w).Encode(environment)
	})
	go http.ListenAndServe(os.Getenv("NETSIM_HTTP"), nil)
	go http.ListenAndServe(os.Getenv("NETSIM_OPS"), nil)
	fmt.Println("serving")
	<-end
}

// dev is a running netsim-dev.
type dev struct {
	*exec.Cmd
	stdin  io.Closer
	stdout *bufio.Reader
	stderr string // path of the file that gets its standard error
}

// newData returns the path of a data directory, which does not exist yet and which
// every user can enter.
func newData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data")
}

// startDev runs netsim-dev with the arguments and, as "NAME=value", settings.
func startDev(t *testing.T, settings []string, args ...string) *dev {
	t.Helper()
	return startCommand(t, settings, os.Args[0], args...)
}

func startCommand(t *testing.T, settings []string, name string, args ...string) *dev {
	t.Helper()
	d := &dev{stderr: filepath.Join(t.TempDir(), "stderr")}
	stderr, err := os.Create(d.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	d.Cmd = exec.Command(name, args...)
	d.Env = append(append(os.Environ(), "NETSIM_DEV_TEST=1"), settings...)
	d.Stderr = stderr
	if d.stdin, err = d.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := d.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.stdout = bufio.NewReader(stdout)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d.ProcessState == nil {
			// End netsim-dev in order: after a kill its postgres could still
			// write while the test's directory is deleted.
			d.Process.Signal(syscall.SIGTERM)
			d.Wait()
		}
	})
	return d
}

// startRun runs "netsim-dev run" on the data until the banner's last line.
func startRun(t *testing.T, data string) *dev {
	t.Helper()
	d := startDev(t, runSettings(data), "run", "--service", os.Args[0])
	d.until(t, "Ctrl-C ends everything.")
	return d
}

func runSettings(data string) []string {
	return []string{"NETSIM_DATA=" + data, "NETSIM_HTTP=127.0.0.1:0"}
}

// until reads standard output up to the line with the text and returns it.
func (d *dev) until(t *testing.T, text string) string {
	t.Helper()
	var all strings.Builder
	for {
		line, err := d.stdout.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			d.Wait()
			t.Fatalf("netsim-dev ended before %q: %s%s", text, all.String(), d.errorOutput(t))
		}
		if strings.Contains(line, text) {
			return all.String()
		}
	}
}

// untilEnd waits for netsim-dev to end, and fails the test if it starts instead.
func (d *dev) untilEnd(t *testing.T) {
	t.Helper()
	if line, err := d.stdout.ReadString('\n'); err == nil {
		t.Fatalf("netsim-dev started: %s", line)
	}
	d.Wait()
}

// errorOutput returns what netsim-dev has written to standard error.
func (d *dev) errorOutput(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(d.stderr)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// end sends the signal and returns the exit status.
func (d *dev) end(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	if err := d.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	d.Wait()
	return d.ProcessState.ExitCode()
}

// processes are open processes. With a pidfd a test can wait for the end of a
// process that is not its child.
type processes map[int]int // pid → pidfd

// childrenOf opens the child processes of pid.
func childrenOf(t *testing.T, pid int) processes {
	t.Helper()
	found := processes{}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("process %d has no tasks: %v", pid, err)
	}
	for _, file := range tasks {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // that thread has ended
		}
		for field := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			fd, err := unix.PidfdOpen(child, 0)
			if err != nil {
				continue // that child has ended
			}
			t.Cleanup(func() { unix.Close(fd) })
			found[child] = fd
		}
	}
	return found
}

// waitEnded waits until all processes have ended, limited by the test's timeout.
func (p processes) waitEnded(t *testing.T) {
	t.Helper()
	for pid, fd := range p {
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if err == nil {
				break
			}
			if err != unix.EINTR {
				t.Fatalf("process %d: %v", pid, err)
			}
		}
	}
}
