package uploads

import (
	"context"
	"errors"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/postgres"
	"netsim/projections"
)

// CompleteTraceset completes the upload of a traceset with the parts of each
// file. fresh reports whether this call completed it. A request with a command id
// waits for another request on the same upload, which may have the same id.
//
// Errors: Validation for files or parts that are not the session's and for an
// aborted session, Conflict while another request completes it, Gone when it has
// expired, Unavailable while the store does not answer or the content is locked.
func (u *Uploads) CompleteTraceset(ctx context.Context, id string, files []api.UploadedFile, from handle.Origin) (traceset string, fresh bool, err error) {
	err = u.detached(ctx, id, func(ctx context.Context) error {
		return u.locked(ctx, id, from.CommandID != "", func(row *projections.Upload) error {
			traceset, fresh = row.ResultID, row.Status == commands.UploadOpen
			switch {
			case row.Status == commands.UploadCompleted:
				return u.settleTraceset(ctx, row, from)
			case u.over(row):
				return fault.New(fault.Gone, "upload %s has expired", id)
			case row.Status == commands.UploadAborted:
				return fault.New(fault.Validation, "upload %s has failed (%s); open a new one", id, row.Reason)
			}
			declared, err := row.FileList()
			if err != nil {
				return err
			}
			sent, err := pair(declared, files)
			if err != nil {
				return err
			}
			if err = u.join(ctx, row.Kind, declared, sent); err == nil {
				err = u.settleTraceset(ctx, row, from)
			}
			if _, lost := errors.AsType[errLost](err); lost {
				return errors.Join(err, u.abort(ctx, row, storage))
			}
			return err
		})
	})
	return traceset, fresh, err
}

// CompleteMappingFile completes the upload of a mapping file. It returns the id
// of the file. For a duplicate this is the id of the file with the same bytes.
//
// Errors: as in the table of document 2, Complete upload. PayloadTooLarge,
// MappingFileInvalid and an Unavailable without RetryAfter end the session.
func (u *Uploads) CompleteMappingFile(ctx context.Context, id string, parts []api.UploadedPart, from handle.Origin) (file string, duplicate bool, err error) {
	err = u.detached(ctx, id, func(ctx context.Context) error {
		return u.locked(ctx, id, from.CommandID != "", func(row *projections.Upload) error {
			switch {
			case row.Status == commands.UploadCompleted:
				return fault.New(fault.Conflict, "upload %s is completed", id)
			case u.over(row):
				return fault.New(fault.Gone, "upload %s has expired", id)
			case row.Status == commands.UploadAborted:
				return fault.New(fault.Conflict, "upload %s is aborted", id)
			}
			declared, err := row.FileList()
			if err != nil {
				return err
			}
			if err = u.join(ctx, row.Kind, declared, [][]api.UploadedPart{parts}); err == nil {
				file, err = u.settleMappingFile(ctx, row, from)
			}
			return u.ended(ctx, row, err)
		})
	})
	return file, file != resultOf(events.UploadMappingFile, id), err
}

// Finish returns the result of a completed upload, and whether it is a duplicate.
// It finishes an interrupted completion.
func (u *Uploads) Finish(ctx context.Context, id string) (result string, duplicate bool, err error) {
	err = u.locked(ctx, id, true, func(row *projections.Upload) (err error) {
		result, duplicate = row.ResultID, row.ResultID != resultOf(row.Kind, id)
		switch {
		case row.Status != commands.UploadCompleted:
			return fault.New(fault.Conflict, "upload %s is %s", id, row.Status)
		case row.Kind == events.UploadTraceset:
			return u.settleTraceset(ctx, row, handle.Origin{})
		}
		_, err = u.settleMappingFile(ctx, row, handle.Origin{})
		return err
	})
	return result, duplicate, err
}

// locked does the work on a session while it holds the session's lock. If another
// request holds it, locked waits for it when wait is set, and otherwise returns
// Conflict. For a completed session it always waits, because then only clean-up
// can hold the lock.
func (u *Uploads) locked(ctx context.Context, id string, wait bool, work func(row *projections.Upload) error) error {
	before, err := projections.FindUpload(ctx, u.DB, id)
	if err != nil {
		return err
	}
	take := u.Locks.Try
	if wait || before.Status == commands.UploadCompleted {
		take = func(ctx context.Context, name string) (func(), error) { return u.Locks.Wait(ctx, name, u.LockTimeout) }
	}
	release, err := take(ctx, id)
	if errors.Is(err, postgres.ErrHeld) {
		return fault.New(fault.Conflict, "upload %s is being completed by another request", id)
	}
	if err != nil {
		return err
	}
	defer release()
	row, err := projections.FindUpload(ctx, u.DB, id)
	if err != nil {
		return err
	}
	return work(&row)
}

// over reports whether a session that is not completed has expired.
func (u *Uploads) over(row *projections.Upload) bool {
	return row.Reason == expired || row.Status == commands.UploadOpen && !u.Now().Before(row.ExpiresAt)
}

// The reasons of aborts.
const (
	expired = "expired"
	refused = "refused"
	storage = "storage"
)

// ended aborts the session of a mapping file whose completion failed permanently
// (completions 6.6).
func (u *Uploads) ended(ctx context.Context, row *projections.Upload, err error) error {
	_, lost := errors.AsType[errLost](err)
	reason, final := storage, ""
	switch {
	case fault.Is(err, fault.PayloadTooLarge), fault.Is(err, fault.MappingFileInvalid):
		reason = refused
	case errors.Is(err, postgres.ErrHeld):
		final = "another upload of the same content takes too long; open a new upload"
	case lost, errors.Is(err, errAway):
		final = "the object store does not answer; open a new upload"
	default:
		return err
	}
	if failed := u.abort(ctx, row, reason); failed != nil {
		return errors.Join(failed, err)
	}
	if final != "" {
		return &fault.Fault{Code: fault.Unavailable, Message: final, Cause: err}
	}
	return err
}

// abort aborts a session and tries to remove its staged objects. Clear removes
// what remains.
func (u *Uploads) abort(ctx context.Context, row *projections.Upload, reason string) error {
	if _, err := handle.Command[commands.Upload](ctx, u.Commands, session(row), handle.System(row.ID, "abort"),
		commands.AbortUpload{ID: row.ID, Reason: reason}); err != nil {
		return err
	}
	if files, err := row.FileList(); err == nil {
		_ = u.remove(ctx, files)
	}
	return nil
}
