package uploads

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
)

// Limits of sessions (completions 6.2).
const (
	PartSize = 16 << 20 // bytes of every part but the last
	MaxParts = 10_000   // parts of all files of a session
)

const storeCalls = 8 // concurrent calls to the object store

// Open opens a session. The files' names, types, roles and sizes are given. Open
// sets their parts and object keys. It does nothing when the session exists.
func (u *Uploads) Open(ctx context.Context, to handle.Target, from handle.Origin, opened events.UploadOpened) error {
	opened.ResultID = resultOf(opened.Kind, to.Stream)
	parts := int64(0)
	for i := range opened.Files {
		f := &opened.Files[i]
		f.Parts = (f.Size + PartSize - 1) / PartSize
		f.ObjectKey = stagingOf(to.Stream) + f.Name
		parts += f.Parts
	}
	if parts > MaxParts {
		return fault.New(fault.Validation, "files need %d parts of 16 MiB; at most %d are allowed", parts, MaxParts)
	}
	opened.ExpiresAt = u.Now().Add(u.Lifetime).Truncate(time.Millisecond)
	group, begin := errgroup.WithContext(ctx)
	group.SetLimit(storeCalls)
	for i := range opened.Files {
		f := &opened.Files[i]
		group.Go(func() (err error) {
			f.StoreID, err = u.Objects.BeginParts(begin, f.ObjectKey, f.ContentType)
			return err
		})
	}
	err := away(group.Wait())
	if err == nil {
		var result handle.Result
		result, err = handle.Command(ctx, u.Commands, to, from, commands.OpenUpload{Opened: opened})
		if err == nil && result.Event != nil {
			return nil
		}
	}
	if err == nil || fault.CodeOf(err) != fault.Unavailable { // Unavailable: the session may be open
		u.unbegin(ctx, opened.Files)
	}
	return err
}

// resultOf returns the id of the traceset or mapping file of a session.
func resultOf(kind, upload string) string {
	if kind == events.UploadTraceset {
		return events.DerivedID(events.TracesetPrefix, upload)
	}
	return events.DerivedID(events.MappingFilePrefix, upload)
}

// unbegin drops the multipart uploads of a session that was not opened. Expire
// later removes those that cannot be dropped now.
func (u *Uploads) unbegin(ctx context.Context, files []events.UploadFile) {
	for _, f := range files {
		if f.StoreID != "" {
			_ = u.Objects.DropParts(context.WithoutCancel(ctx), f.ObjectKey, f.StoreID)
		}
	}
}

// stagingOf returns the key prefix of an upload's staged files.
func stagingOf(upload string) string { return staging + upload + "/" }

const staging = "staging/"

// Links returns presigned links for a session's parts, and when the session and
// the links expire.
func (u *Uploads) Links(ctx context.Context, id string) ([]api.UploadFileLinks, time.Time, error) {
	row, err := projections.FindUpload(ctx, u.DB, id)
	if err != nil {
		return nil, time.Time{}, err
	}
	files, err := row.FileList()
	if err != nil {
		return nil, time.Time{}, err
	}
	lifetime := max(row.ExpiresAt.Sub(u.Now()), time.Second).Truncate(time.Second)
	links := make([]api.UploadFileLinks, len(files))
	for i, f := range files {
		links[i] = api.UploadFileLinks{Name: f.Name, Parts: make([]api.PartLink, f.Parts)}
		for n := range f.Parts {
			link, err := u.Objects.PresignPart(ctx, f.ObjectKey, f.StoreID, int32(n+1), lifetime)
			if err != nil {
				return nil, time.Time{}, fmt.Errorf("link the parts of %s: %w", id, err)
			}
			links[i].Parts[n] = api.PartLink{PartNumber: n + 1, URL: link.URL}
		}
	}
	return links, row.ExpiresAt, nil
}

// remove removes the staged objects of the files.
func (u *Uploads) remove(ctx context.Context, files []events.UploadFile) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(storeCalls)
	for _, f := range files {
		group.Go(func() error {
			if err := u.Objects.DropParts(ctx, f.ObjectKey, f.StoreID); err != nil {
				return err
			}
			return u.Objects.Delete(ctx, f.ObjectKey)
		})
	}
	return group.Wait()
}
