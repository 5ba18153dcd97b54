package uploads

import (
	"context"
	"strings"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// React reacts to the end of an upload: it finishes an interrupted completion and
// enqueues the removal of the staged objects.
func (u *Uploads) React(ctx context.Context, f events.Fact) error {
	switch f.Data.(type) {
	case events.UploadCompleted:
		if _, _, err := u.Finish(ctx, f.Stream); err != nil {
			return err
		}
	case events.UploadAborted:
	default:
		return nil
	}
	return u.EnqueueClear(ctx, f.Stream)
}

// Clear removes the staged objects of an upload that has ended. It may be
// repeated.
func (u *Uploads) Clear(ctx context.Context, upload string) error {
	row, err := projections.FindUpload(ctx, u.DB, upload)
	if err != nil || row.Status == commands.UploadOpen {
		return err
	}
	if row.Status == commands.UploadCompleted {
		if _, _, err := u.Finish(ctx, upload); err != nil {
			return err
		}
	}
	files, err := row.FileList()
	if err != nil {
		return err
	}
	return u.remove(ctx, files)
}

const expiryPage = 500

// Expire aborts the expired sessions, and removes staged objects that belong to
// no session. A session that is being completed is skipped until the next call.
func (u *Uploads) Expire(ctx context.Context) error {
	for {
		page, err := projections.ExpiredUploads(ctx, u.DB, u.Now(), expiryPage)
		if err != nil {
			return err
		}
		ended := 0
		for i := range page {
			err := u.locked(ctx, page[i].ID, false, func(row *projections.Upload) error {
				if row.Status != commands.UploadOpen {
					return nil
				}
				return u.abort(ctx, row, expired)
			})
			switch {
			case err == nil:
				ended++
			case !fault.Is(err, fault.Conflict):
				return err
			}
		}
		if ended == 0 || len(page) < expiryPage {
			return u.sweep(ctx)
		}
	}
}

// sweep removes objects that were staged more than two session lifetimes ago,
// unless an upload still needs them. Such objects remain when a process dies.
func (u *Uploads) sweep(ctx context.Context) error {
	before := u.Now().Add(-2 * u.Lifetime)
	for b, err := range u.Objects.ListBegun(ctx, staging) {
		if err != nil {
			return err
		}
		if b.At.Before(before) {
			if err := u.unlessNeeded(ctx, b.Key, func() error { return u.Objects.DropParts(ctx, b.Key, b.ID) }); err != nil {
				return err
			}
		}
	}
	for o, err := range u.Objects.List(ctx, staging) {
		if err != nil {
			return err
		}
		if o.Modified.Before(before) {
			if err := u.unlessNeeded(ctx, o.Key, func() error { return u.Objects.Delete(ctx, o.Key) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// unlessNeeded removes the staged object at a key unless its upload is open. A
// completed upload is cleared as a whole.
func (u *Uploads) unlessNeeded(ctx context.Context, key string, remove func() error) error {
	upload, _, _ := strings.Cut(strings.TrimPrefix(key, staging), "/")
	row, err := projections.FindUpload(ctx, u.DB, upload)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && row.Status == commands.UploadAborted:
		return remove()
	case err == nil && row.Status == commands.UploadCompleted:
		return u.Clear(ctx, upload)
	}
	return err
}
