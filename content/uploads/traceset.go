package uploads

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/library"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/postgres"
	"netsim/projections"
	"netsim/simulator/chakra"
)

// settleTraceset stores the staged files of a session, and records the session's
// completion and the traceset. It skips steps that are done.
func (u *Uploads) settleTraceset(ctx context.Context, row *projections.Upload, from handle.Origin) error {
	_, err := projections.FindTraceset(ctx, u.DB, row.ResultID)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	declared, err := row.FileList()
	if err != nil {
		return err
	}
	var tags []string
	if err := json.Unmarshal([]byte(row.Tags), &tags); err != nil {
		return fmt.Errorf("read the tags of upload %s: %w", row.ID, err)
	}
	files, staged, err := u.digestAll(ctx, declared)
	if err != nil {
		return err
	}
	return u.keep(ctx, files, staged, func(files []events.TracesetFile, hash string, total int64) error {
		completed := events.UploadCompleted{ResultID: row.ResultID}
		for _, f := range files {
			completed.Files = append(completed.Files, events.UploadedFile{Name: f.Name, Hash: f.Hash, Size: f.Size})
		}
		if _, err := handle.Command[commands.Upload](ctx, u.Commands, session(row), from,
			commands.CompleteUpload{ID: row.ID, Completed: completed}); err != nil {
			return err
		}
		_, err := handle.Command[commands.Traceset](ctx, u.Commands, result(row), from.Derive(row.ID, "create"),
			commands.CreateTraceset{Created: events.TracesetCreated{
				AccountID: row.AccountID, WorkspaceID: row.WorkspaceID, Name: row.Name, Description: row.Description, Tags: tags,
				Format: formatOf(files), Files: files, LibraryHash: hash, TotalSize: total, TTLDays: row.TTLDays,
				Status: commands.TracesetProcessing, Workload: row.Workload, UploadID: row.ID,
			}})
		return err
	})
}

// digestAll reads every staged file once. It returns the files with their hashes,
// and the keys of the staged objects.
func (u *Uploads) digestAll(ctx context.Context, declared []events.UploadFile) (files []events.TracesetFile, staged []string, err error) {
	files, staged = make([]events.TracesetFile, len(declared)), make([]string, len(declared))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(filesAtOnce)
	for i, f := range declared {
		staged[i] = f.ObjectKey
		group.Go(func() error {
			hash, size, err := u.digest(ctx, f.ObjectKey)
			if err != nil {
				return err
			}
			files[i] = events.TracesetFile{Name: f.Name, ContentType: f.ContentType, Hash: hash, Size: size, Role: f.Role}
			return rightSize(events.UploadTraceset, f, size)
		})
	}
	return files, staged, group.Wait()
}

// digest reads an object and returns its hash, "sha256:" and hex, and its size in
// bytes.
func (u *Uploads) digest(ctx context.Context, key string) (hash string, size int64, err error) {
	body, _, err := u.Objects.Get(ctx, key)
	if fault.Is(err, fault.NotFound) {
		return "", 0, errLost{key}
	}
	if err != nil {
		return "", 0, away(err)
	}
	defer body.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if size, err = io.Copy(sum, body); err != nil {
		return "", 0, away(fmt.Errorf("read %s: %w", key, err))
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), size, nil
}

// keep has the store copy staged files to their library and then calls record. It
// holds the library's lock while it does both.
func (u *Uploads) keep(
	ctx context.Context, files []events.TracesetFile, staged []string,
	record func(files []events.TracesetFile, libraryHash string, total int64) error,
) error {
	hash, total := library.Hash(files), int64(0)
	release, err := u.Locks.Wait(ctx, library.Lock(hash), u.LockTimeout)
	if errors.Is(err, postgres.ErrHeld) {
		return &fault.Fault{
			Code: fault.Unavailable, Message: "another upload of the same content takes too long; repeat the request", RetryAfter: time.Second, Cause: err,
		}
	}
	if err != nil {
		return err
	}
	defer release()
	group, copying := errgroup.WithContext(ctx)
	group.SetLimit(filesAtOnce)
	for i := range files {
		f := &files[i]
		f.ObjectKey = library.Key(hash, f.Hash)
		total += f.Size
		group.Go(func() error { return u.copy(copying, staged[i], f.ObjectKey, f.Size) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return record(files, hash, total)
}

// copy has the store copy an object, unless the copy exists.
func (u *Uploads) copy(ctx context.Context, from, to string, size int64) error {
	info, err := u.Objects.Head(ctx, to)
	if err == nil && info.Size == size {
		return nil
	}
	if err == nil || fault.Is(err, fault.NotFound) {
		err = u.Objects.Copy(ctx, from, to)
	}
	if fault.Is(err, fault.NotFound) {
		return errLost{from}
	}
	return away(err)
}

// formatOf returns the format that the name of the first primary file suggests.
// The extraction determines the actual one.
func formatOf(files []events.TracesetFile) string {
	for _, f := range files {
		if f.Role == events.RolePrimary {
			if strings.Contains(f.Name, ".json") {
				return chakra.FormatJSON
			}
			break
		}
	}
	return chakra.FormatBinary
}
