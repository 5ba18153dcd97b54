package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"netsim/cmd/table"
	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

type traces struct {
	Upload traceUpload `cmd:"" help:"Upload a traceset. The same command resumes an interrupted upload."`
}

type traceUpload struct {
	options
	Files       []string `arg:"" name:"file" type:"existingfile" help:"The files of the traces, one for each rank."`
	Supporting  []string `type:"existingfile" sep:"none" placeholder:"FILE" help:"A file that is not the trace of a rank. May be repeated."`
	Name        string   `required:"" placeholder:"NAME" help:"The name of the traceset."`
	Description string   `placeholder:"TEXT" help:"What it is."`
	Tag         []string `placeholder:"TAG" help:"A tag. May be repeated."`
	Watch       bool     `help:"Wait until the service has looked at the files."`
	Workspace   string   `placeholder:"ID" predictor:"workspace" help:"Where to make it."`
}

// Run uploads a traceset.
func (c traceUpload) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		files, closeAll, err := c.open()
		defer closeAll()
		if err != nil {
			return answer{}, err
		}
		state, err := c.state(t, files)
		if err != nil {
			return answer{}, err
		}
		made, err := s.Upload(ctx, api.TracesetUpload{Name: c.Name, Description: c.Description, Tags: c.Tag, WorkspaceID: c.Workspace}, files, netsim.FileStore(state))
		if err == nil && c.Watch {
			made, err = s.looked(ctx, made)
		}
		if err != nil {
			return answer{}, err
		}
		return line(made, "%s %s", made.ID, made.Status), os.Remove(state)
	})
}

// open opens the files. The function closes those that are open, also after an error.
func (c traceUpload) open() (files []netsim.File, closeAll func(), err error) {
	var opened []*os.File
	closeAll = func() {
		for _, file := range opened {
			_ = file.Close()
		}
	}
	for _, list := range []struct {
		role  api.UploadRole
		paths []string
	}{{api.UploadRolePrimary, c.Files}, {api.UploadRoleSupporting, c.Supporting}} {
		for _, path := range list.paths {
			file, err := os.Open(path)
			if err != nil {
				return nil, closeAll, err
			}
			opened = append(opened, file)
			info, err := file.Stat()
			if err != nil {
				return nil, closeAll, err
			}
			files = append(files, netsim.File{
				UploadFile: api.UploadFile{Name: filepath.Base(path), Size: info.Size(), Role: list.role}, Content: file,
			})
		}
	}
	return files, closeAll, nil
}

// state returns the file with the state of an upload, by what its command line says, so that
// the same command finds it.
func (c traceUpload) state(t *Terminal, files []netsim.File) (path string, err error) {
	where, err := os.Getwd()
	if err != nil {
		return "", err
	}
	p, err := t.resolve(c.Profile)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %q %q %q %q", where, p.URL, c.Workspace, c.Name, c.Files, c.Supporting)
	for _, file := range files {
		fmt.Fprintf(hash, " %d", file.Size)
	}
	return t.file("uploads", hex.EncodeToString(hash.Sum(nil)))
}

const lookAgain = 500 * time.Millisecond

// looked waits until the service has looked at the files of a traceset.
func (s *session) looked(ctx context.Context, made *api.Traceset) (*api.Traceset, error) {
	every := time.NewTicker(lookAgain)
	defer every.Stop()
	for made.Status == api.TracesetStatusProcessing || made.Status == api.TracesetStatusUploading {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-every.C:
		}
		now, err := s.GetTraceset(ctx, made.ID, nil)
		if err != nil {
			return nil, err
		}
		made = now
	}
	if made.Status != api.TracesetStatusReady {
		return nil, fmt.Errorf("the traceset %s is %s: %s", made.ID, made.Status, table.Printable(made.StatusMessage))
	}
	return made, nil
}
