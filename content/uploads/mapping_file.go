package uploads

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/library"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/mapping"
)

// settleMappingFile stores the staged file of a session, unless its workspace has
// one with the same bytes, and records the session's completion and the file. It
// returns the file's id. It skips steps that are done.
func (u *Uploads) settleMappingFile(ctx context.Context, row *projections.Upload, from handle.Origin) (string, error) {
	_, err := projections.FindMappingFile(ctx, u.DB, row.ResultID)
	if !fault.Is(err, fault.NotFound) {
		return row.ResultID, err
	}
	declared, err := row.FileList()
	if err != nil {
		return "", err
	}
	created, err := u.readMappingFile(ctx, declared[0].ObjectKey)
	if err != nil {
		return "", err
	}
	created.AccountID, created.WorkspaceID, created.Name, created.Description = row.AccountID, row.WorkspaceID, row.Name, row.Description
	created.ObjectKey = "mappingfiles/" + library.Fanned(created.ContentHash)
	release, err := u.Locks.Wait(ctx, MappingFileLock(row.AccountID, row.WorkspaceID, created.Hash), u.LockTimeout)
	if err != nil {
		return "", err
	}
	defer release()
	duplicateOf := ""
	if row.Status == commands.UploadOpen {
		if duplicateOf, err = u.duplicateOf(ctx, &created); err != nil {
			return "", err
		}
	}
	if duplicateOf == "" {
		if err := u.copy(ctx, declared[0].ObjectKey, created.ObjectKey, created.SizeBytes); err != nil {
			return "", err
		}
	}
	file := cmp.Or(duplicateOf, row.ResultID)
	if _, err := handle.Command[commands.Upload](ctx, u.Commands, session(row), from, commands.CompleteUpload{
		ID: row.ID, Completed: events.UploadCompleted{ResultID: file, DuplicateOf: duplicateOf, Files: []events.UploadedFile{
			{Name: row.Name, Hash: created.Hash, Size: created.SizeBytes},
		}},
	}); err != nil || duplicateOf != "" {
		return file, err
	}
	_, err = handle.Command[commands.MappingFile](ctx, u.Commands, result(row), from.Derive(row.ID, "create"),
		commands.CreateMappingFile{Created: created})
	return file, err
}

// MappingFileLock returns the name of the lock that is held while a mapping file with
// this checksum is stored in a workspace of an account.
func MappingFileLock(account, workspace, hash string) string {
	return "mapping file " + account + " " + workspace + " " + hash
}

// duplicateOf returns the id of the live file with the same bytes, whatever its name;
// "" if there is none. A workspace takes two files with equal checksums and different
// bytes if their names differ, and no third one (completions 6.6).
func (u *Uploads) duplicateOf(ctx context.Context, created *events.MappingFileCreated) (string, error) {
	like, err := projections.MappingFilesOfChecksum(ctx, u.DB, created.AccountID, created.WorkspaceID, created.Hash)
	if err != nil {
		return "", err
	}
	for _, m := range like {
		if m.ContentHash == created.ContentHash {
			return m.ID, nil
		}
	}
	for _, m := range like {
		if m.Name == created.Name {
			return "", fault.New(fault.MappingFileHashCollision, "another file named '%s' has the checksum %s", m.Name, created.Hash)
		}
	}
	if len(like) > 1 {
		return "", fault.New(fault.MappingFileHashCollision, "%d other files have the checksum %s", len(like), created.Hash)
	}
	return "", nil
}

// readMappingFile reads a staged mapping file once, and returns the members of
// the event that follow from its content.
func (u *Uploads) readMappingFile(ctx context.Context, key string) (created events.MappingFileCreated, err error) {
	body, info, err := u.Objects.Get(ctx, key)
	if fault.Is(err, fault.NotFound) {
		return created, errLost{key}
	}
	if err != nil {
		return created, away(err)
	}
	defer body.Close() //nolint:errcheck // it was only read
	content, checksum := sha256.New(), mapping.NewChecksum()
	file, err := mapping.Parse(io.TeeReader(body, io.MultiWriter(content, checksum)))
	if wrong, ok := errors.AsType[*mapping.Error](err); ok {
		return created, fault.New(fault.MappingFileInvalid, "%s", wrong)
	}
	if errors.Is(err, mapping.ErrTooLarge) {
		return created, fault.New(fault.PayloadTooLarge, "%s", err)
	}
	if err != nil {
		return created, away(fmt.Errorf("read %s: %w", key, err))
	}
	return events.MappingFileCreated{
		Hash: mapping.FormatChecksum(checksum.Sum64()), ContentHash: "sha256:" + hex.EncodeToString(content.Sum(nil)),
		SizeBytes: info.Size, RankCount: int64(file.RankCount()), ScaleUpGroupCount: int64(file.ScaleUpGroupCount()),
	}, nil
}
