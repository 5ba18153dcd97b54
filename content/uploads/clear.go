package uploads

import (
	"context"
	"strings"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// React reacts to the end of uploads: it does what a completion that was
// interrupted has left to do, and has what is staged removed.
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

// Clear removes what is staged of an upload that has ended. It may be repeated.
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

// Expire aborts the sessions that have expired, and sweeps up what is staged
// and belongs to none. One that is being completed is left for the next time.
func (u *Uploads) Expire(ctx context.Context) error {
	for {
		page, err := projections.ExpiredUploads(ctx, u.DB, u.Now(), expiryPage)
		if err != nil {
			return err
		}
		ended := 0
		for i := range page {
			err := u.alone(ctx, page[i].ID, false, func(row *projections.Upload) error {
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

// sweep removes what was staged more than two lives of a session ago, unless
// an upload still needs it: what dead processes left behind.
func (u *Uploads) sweep(ctx context.Context) error {
	before := u.Now().Add(-2 * u.Life)
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

// unlessNeeded removes what is staged at a key, unless its upload is open or
// completed: one that has ended is cleared.
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
