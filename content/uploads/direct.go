package uploads

import (
	"context"
	"io"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/projections"
)

// Stage stores a file of a direct upload under the staging prefix. If the body is too
// large, it returns the reader's error unchanged.
func (u *Uploads) Stage(ctx context.Context, upload, name, contentType string, r io.Reader) (events.TracesetFile, error) {
	stored, err := u.Objects.Put(ctx, stagingOf(upload)+name, contentType, r)
	if err != nil {
		return events.TracesetFile{}, away(err)
	}
	return events.TracesetFile{Name: name, ContentType: contentType, Hash: "sha256:" + stored.SHA256, Size: stored.Size}, nil
}

// Keep makes a traceset of staged files, unless its workspace has one with the
// same files and name. It returns the traceset's id, and whether it is new.
func (u *Uploads) Keep(ctx context.Context, upload string, to handle.Target, from handle.Origin, t events.TracesetCreated) (traceset string, fresh bool, err error) {
	staged := make([]string, len(t.Files))
	for i, f := range t.Files {
		staged[i] = stagingOf(upload) + f.Name
	}
	err = u.detached(ctx, upload, func(ctx context.Context) error {
		return u.keep(ctx, t.Files, staged, func(files []events.TracesetFile, hash string, total int64) error {
			existing, err := projections.TracesetOfContent(ctx, u.DB, t.AccountID, t.WorkspaceID, hash, t.Name)
			if err != nil || existing != "" {
				traceset = existing
				return err
			}
			traceset, fresh = to.Stream, true
			t.Files, t.LibraryHash, t.TotalSize, t.Format, t.Status = files, hash, total, formatOf(files), commands.TracesetProcessing
			_, err = handle.Command[commands.Traceset](ctx, u.Commands, to, from, commands.CreateTraceset{Created: t})
			return err
		})
	})
	return traceset, fresh, err
}

// Discard removes the staged files of a direct upload. Expire later removes files
// that cannot be removed now.
func (u *Uploads) Discard(ctx context.Context, upload string) {
	if err := u.Objects.DeletePrefix(context.WithoutCancel(ctx), stagingOf(upload)); err != nil {
		u.Log.InfoContext(ctx, "staged files cannot be removed yet", "upload", upload, "error", err)
	}
}
