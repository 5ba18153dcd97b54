package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

// objectsRegion is the region that S3 clients sign for.
const objectsRegion = "us-east-1"

// startObjects runs the S3 gateway over a directory. The gateway changes the
// working directory of the process, so all paths must be absolute, and a process
// can run only one gateway.
func startObjects(o options, dir string) (*server, error) {
	addr, err := address(o.listen)
	if err != nil {
		return nil, err
	}
	access, err := readOrCreate(filepath.Join(dir, "access-key"), secret)
	if err != nil {
		return nil, err
	}
	secretKey, err := readOrCreate(filepath.Join(dir, "secret-key"), secret)
	if err != nil {
		return nil, err
	}
	backend, err := openObjects(dir)
	if err != nil {
		return nil, err
	}
	root := auth.Account{Access: access, Secret: secretKey, Role: auth.RoleAdmin}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
			RootUserAccess:    access,
			RootUserSecret:    secretKey,
			IAMService:        auth.NewIAMServiceSingle(root), // the gateway's default, without the notice it prints
			Region:            objectsRegion,
			Ports:             []string{addr},
			MaxConnections:    4096,
			MaxRequests:       1024,
			MultipartMaxParts: 10000,
			CORSAllowOrigin:   "*", // browsers upload parts to presigned URLs
			Quiet:             true,
			KeepAlive:         true,
		})
	}()
	if err := awaitListener(addr, ended); err != nil {
		cancel()
		return nil, err
	}
	return &server{
		endpoint: endpoint{
			Addr: addr, URL: "http://" + addr, PID: os.Getpid(),
			Region: objectsRegion, AccessKey: access, SecretKey: secretKey,
		},
		stop: func() error {
			cancel()
			return <-ended
		},
	}, nil
}

// openObjects opens the directory as a store. The metadata of objects is in
// extended attributes if the file system has them, otherwise in files. The choice
// is made at the first start.
func openObjects(dir string) (*posix.Posix, error) {
	files, sidecar := filepath.Join(dir, "files"), filepath.Join(dir, "metadata")
	if err := errors.Join(makeDir(files), makeDir(sidecar)); err != nil {
		return nil, err
	}
	kind, err := readOrCreate(filepath.Join(dir, "metadata-in"), func() string {
		if syscall.Setxattr(files, "user.netsim", []byte("1"), 0) == nil {
			return "xattr"
		}
		return "files"
	})
	if err != nil {
		return nil, err
	}
	if kind == "xattr" {
		return posix.New(files, meta.XattrMeta{}, posix.PosixOpts{CopyObjectThreshold: copyLimit})
	}
	store, err := meta.NewSideCar(sidecar)
	if err != nil {
		return nil, err
	}
	return posix.New(files, store, posix.PosixOpts{SideCarDir: sidecar, CopyObjectThreshold: copyLimit})
}

// copyLimit is the largest object that one request copies, as in Amazon's S3.
const copyLimit = 5 << 30

// awaitListener waits until addr accepts connections. When the server ends first,
// it returns the server's error.
func awaitListener(addr string, ended <-chan error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(30 * time.Second)
	for {
		select {
		case err := <-ended:
			return err
		case <-timeout:
			return fmt.Errorf("no answer on %s in 30s", addr)
		case <-tick.C:
			if conn, err := net.Dial("tcp", addr); err == nil {
				return conn.Close()
			}
		}
	}
}
